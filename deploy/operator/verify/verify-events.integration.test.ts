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
