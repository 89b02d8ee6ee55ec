import { headers, type StoredMsg } from 'nats'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { streamName } from '#lib/events/stream'
import { type AlteredHouse, startAlteredHouse } from '#test/support/altered-house'

let there: AlteredHouse

beforeAll(async () => {
  there = await startAlteredHouse()
}, 120_000)
afterAll(() => there?.stop())

async function findMessage(isMeant: (message: StoredMsg) => boolean): Promise<StoredMsg> {
  const { manager } = there
  const { state } = await manager.streams.info(streamName)
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(streamName, { seq }).catch(() => undefined)
    if (message && isMeant(message)) return message
  }
  return expect.fail('the stream has no such message')
}

/** An event of a living user whose message the stream lost. */
async function lostEvent(): Promise<string> {
  const { position } = await there.first('users', 'events', `type = 'machine.added'`)
  const id = `users-${String(position)}`
  const { seq, subject, data, header } = await findMessage(({ header: of }) => of.get('ce-id') === id)
  await there.manager.streams.deleteMessage(streamName, seq)
  // Back after the test, behind all others.
  putBack = async () => {
    for (const name of ['Nats-Msg-Id', 'Nats-Expected-Last-Msg-Id']) header.delete(name)
    await there.nats.jetstream().publish(subject, data, { headers: header })
  }
  return `users: events position=${String(position)}`
}
let putBack = async () => {}

describe('verify takes no message for a checkpoint but one that the service stored', () => {
  const type = 'roster.audit.checkpoint.signed.v1'
  const checkpoint = () =>
    vi.waitFor(
      () => findMessage(({ header, subject }) => header.get('ce-type') === type && subject.includes('.users.')),
      { timeout: 20_000, interval: 500 },
    )

  test.each<[string, (end: string, own: string) => string, Record<string, string>, string | undefined, string]>([
    [
      'elsewhere, such as at the end of a living user',
      (end) => end,
      {},
      undefined,
      'it calls itself a checkpoint, and lies elsewhere than those',
    ],
    ['of another signature', (_, own) => own, {}, '{"jws":"forged"}', 'it is not checkpoint '],
    [
      'of a number that is not stored',
      (_, own) => own,
      { 'ce-sequence': '99999' },
      undefined,
      'the database has no such checkpoint',
    ],
  ])('%s', async (_, at, changed, data, problem) => {
    const { header, subject, data: signed } = await checkpoint()
    const all = headers()
    for (const name of header.keys()) if (name.startsWith('ce-')) all.set(name, header.get(name))
    for (const [name, value] of Object.entries(changed)) all.set(name, value)
    const { userId } = there.all.values as { userId: string }
    const end = `roster.events.users.default.user.${userId}.removed`
    const { seq } = await there.nats.jetstream().publish(at(end, subject), data ?? signed, { headers: all })
    try {
      const { status, out } = await there.roster('verify')
      expect({ status, lines: out.trimEnd().split('\n').length }).toEqual({ status: 1, lines: 2 })
      const row = `users: stream ${streamName} seq=${seq} subject="${at(end, subject)}"`
      expect(out).toContain(`${row}: ${problem}`)
    } finally {
      await there.manager.streams.deleteMessage(streamName, seq)
    }
  })
})

describe('verify tells what the stream lost, whatever the service says of itself', () => {
  test('that it parked the event', async () => {
    const event = await lostEvent()
    const position = event.split('=')[1]!
    await there.admin`insert into roster_users.parked_events (position, reason) values (${position}, '')`
    try {
      await there.expectNamed(event, 'it is parked: the stream does not have it')
    } finally {
      await there.admin`delete from roster_users.parked_events`
      await putBack()
    }
  })
})

test('verify names a service that cannot be read, looks at its sisters, and ends with 2', async () => {
  const [row] = await there.admin`delete from roster_idp.published returning *`
  try {
    expect(await there.roster('verify', 'idp', 'grants')).toMatchObject({
      status: 2,
      out: '0 rows differ.\n',
      err: expect.stringMatching(/^idp: it is not told how far events are published$/m),
    })
  } finally {
    await there.admin`insert into roster_idp.published ${there.admin(row!)}`
  }
})
