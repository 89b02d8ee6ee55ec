import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { streamName } from '#lib/events/stream'
import { type AlteredHouse, startAlteredHouse } from '#test/support/altered-house'

let there: AlteredHouse

beforeAll(async () => {
  there = await startAlteredHouse()
}, 120_000)
afterAll(() => there?.stop())

async function messageOf(id: string) {
  const { manager } = there
  const { state } = await manager.streams.info(streamName)
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(streamName, { seq }).catch(() => undefined)
    if (message?.header.get('ce-id') === id) return message
  }
  return expect.fail(`the stream has no ${id}`)
}

describe('verify names the event or message, and ends with 1, after by hand', () => {
  test('an event was altered', async () => {
    const { position, aggregate_id } = await there.first('users', 'events', `type = 'human.added'`)
    const change = `set payload = payload || jsonb_build_object('isVerified', not (payload ->> 'isVerified')::boolean)`
    const { seq, subject } = await messageOf(`users-${position}`)
    await there.altered('users', 'events', change, `position = ${position}`, async () => {
      const { status, out } = await there.roster('verify')
      expect(status).toBe(1)
      expect(out).toContain(
        `users: stream ${streamName} seq=${seq} subject="${subject}": data.isVerified: not what event users-${position} of the database says\n`,
      )
      expect(out).toContain(`users: aggregates type="user" id="${aggregate_id}": state.human.isVerified: `)
    })
    await there.altered(
      'users',
      'events',
      `set payload = payload || '{"$sealed":"AAAA"}'`,
      `position = ${position}`,
      async () => {
        const { status, out } = await there.roster('verify')
        expect(status).toBe(1)
        expect(out).toContain(`users: events position=${position}: its sealed part cannot be opened\n`)
      },
    )
  })

  test('an event was removed', async () => {
    const { position, aggregate_id } = await there.first(
      'grants',
      'events',
      `aggregate_type = 'project' and sequence = 1`,
    )
    const { seq, subject } = await messageOf(`grants-${position}`)
    await there.altered('grants', 'events', 'delete', `position = ${position}`, async () => {
      const { status, out } = await there.roster('verify')
      expect(status).toBe(1)
      expect(out).toMatch(
        new RegExp(`^grants: aggregates type="project" id="${aggregate_id}": event 1 is missing$`, 'm'),
      )
      expect(out).toContain(
        `grants: stream ${streamName} seq=${seq} subject="${subject}": the database has no event grants-${position}\n`,
      )
    })
  })

  test('a message was forged that names a position far beyond every event', async () => {
    const { position } = await there.first('users', 'events', `type = 'machine.added'`)
    const message = await messageOf(`users-${position}`)
    for (const name of ['Nats-Msg-Id', 'Nats-Expected-Last-Msg-Id']) message.header.delete(name)
    message.header.set('ce-id', 'users-999999999999999')
    const { seq } = await there.nats.jetstream().publish(message.subject, message.data, { headers: message.header })
    await there.expectNamed(
      `users: stream ${streamName} seq=${seq} subject="${message.subject}"`,
      'the database has no event users-999999999999999',
    )
    await there.manager.streams.deleteMessage(streamName, seq)
  })

  test('a message was put into the stream without the attributes of an event', async () => {
    const { position } = await there.first('users', 'events', `type = 'machine.added'`)
    const { subject, data } = await messageOf(`users-${position}`)
    const { seq } = await there.nats.jetstream().publish(subject, data)
    await there.expectNamed(
      `users: stream ${streamName} seq=${seq} subject="${subject}"`,
      'it has no attributes of CloudEvents',
    )
    await there.manager.streams.deleteMessage(streamName, seq)
  })

  const last = `select max(position) from roster_users.events where payload ? 'accessTokenType'`

  test.each([
    ['time', 'its time has a part of a millisecond', `set created_at = created_at + interval '999 microseconds'`],
    [
      'number',
      'a number in its payload is none that a service writes',
      `set payload = jsonb_set(payload, '{accessTokenType}', (payload ->> 'accessTokenType' || '.' || repeat('0', 400) || '7')::jsonb)`,
    ],
  ])('an event got a %s that JavaScript does not tell from the one before', async (_, problem, change) => {
    const { position } = await there.first('users', 'events', `position = (${last})`)
    await there.altered('users', 'events', change, `position = ${position}`, () =>
      there.expectNamed(`users: events position=${position}`, problem),
    )
  })

  test.each([0, -1])('an event with the sequence %i was added to an object', async (sequence) => {
    const { position, aggregate_id } = await there.first('idp', 'events', `aggregate_type = 'idp' and sequence = 1`)
    await there.added('idp', 'events', { position: Number(position) + 1_000_000, sequence, aggregate_id }, () =>
      there.expectNamed(
        `idp: events position=${Number(position) + 1_000_000}`,
        'its sequence is below 1',
        `idp: aggregates type="idp" id="${aggregate_id}": event ${sequence} has a number below 1`,
      ),
    )
  })

  test('an event was added at a position below 1', async () => {
    const { aggregate_id } = await there.first('idp', 'events', `aggregate_type = 'idp' and sequence = 1`)
    await there.added('idp', 'events', { position: -7, sequence: 0, aggregate_id }, async () => {
      const { status, out } = await there.roster('verify', 'idp')
      expect(status).toBe(1)
      expect(out).toContain('idp: events position=-7: its sequence is below 1\n')
    })
  })

  test('an event was added at a position beyond all that a computer could count to', async () => {
    const { aggregate_id } = await there.first('idp', 'events', `aggregate_type = 'idp' and sequence = 1`)
    const largest = '9223372036854775807'
    await there.added('idp', 'events', { position: largest, sequence: 0, aggregate_id }, async () => {
      const { status, out } = await there.roster('verify', 'idp')
      expect(status).toBe(1)
      expect(out).toContain(`idp: events position=${largest}: its sequence is below 1\n`)
    })
  })

  test('a message was removed from the stream, and after a forged one took its place', async () => {
    const { position } = await there.first('users', 'events', `type = 'machine.added'`)
    const message = await messageOf(`users-${position}`)
    await there.manager.streams.deleteMessage(streamName, message.seq)
    await there.expectNamed(`users: events position=${position}`, 'the stream does not have it')
    const forged = { ...message.json<object>(), name: 'Mallory' }
    for (const name of ['Nats-Msg-Id', 'Nats-Expected-Last-Msg-Id']) message.header.delete(name)
    const { seq } = await there.nats
      .jetstream()
      .publish(message.subject, JSON.stringify(forged), { headers: message.header })
    await there.expectNamed(
      `users: stream ${streamName} seq=${seq} subject="${message.subject}"`,
      `data.name: not what event users-${position} of the database says`,
    )
    await there.manager.streams.deleteMessage(streamName, seq)
    expect((await there.roster('verify', '--without-stream')).status).toBe(0)
  })
})

test('verify is not stopped by a note of a parked event that has a huge position', async () => {
  await there.admin`insert into roster_idp.parked_events (position, reason) values (9223372036854775807, 'by hand')`
  try {
    expect(await there.roster('verify', 'idp')).toMatchObject({ status: 0, out: 'Nothing differs.\n' })
  } finally {
    await there.admin`delete from roster_idp.parked_events`
  }
})
