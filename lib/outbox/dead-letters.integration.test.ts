import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { add, count, type Replica } from '#test/support/counters'
import { insertEvent, type Publishing, readStream, startPublishing } from '#test/support/publishing'

let publishing: Publishing
let [a, b]: Replica[] = []
const lines: { level: number; position?: string; msg: string }[] = []

beforeAll(async () => {
  publishing = await startPublishing(pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) }))
  ;[a, b] = publishing.replicas
})

afterAll(() => publishing?.stop())

const deadLetters = () =>
  a!.sql<{ position: string; reason: string }[]>`select position, reason from parked_events order by position`

async function positionsOf(aggregate: string): Promise<string[]> {
  const rows = await a!.sql<{ position: string }[]>`
    select position from events where aggregate_id = ${aggregate} order by sequence
  `
  return rows.map(({ position }) => position)
}

/** Waits until the stream holds every event except the dead letters, each once. */
async function theRestIsPublished() {
  const rest = async () => {
    const rows = await a!.sql<{ id: string }[]>`
      select 'users-' || position as id from events where position not in (select position from parked_events) order by 1
    `
    expect((await readStream(publishing.admin)).map(({ id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort())
  }
  await vi.waitFor(rest, { timeout: 15_000, interval: 50 })
}

const large = 'x'.repeat(2.5 * 1024 * 1024)

test.each([
  ['has more bytes than the broker takes', { payload: { name: large } }, /MAX_PAYLOAD_EXCEEDED/],
  ['has more bytes of headers than the broker takes', { creator: 'x'.repeat(70_000) }, /header size exceeds/],
  ['is of a type that proto/ does not know', { type: 'unheard.of' }, /CounterUnheardOf is missing/],
  ['is not what proto/ says', { payload: { surprise: 1 } }, /surprise/],
])(
  'an event that %s is a dead letter; the event behind it and all others go on, each once',
  async (what, columns, reason) => {
    const before = await deadLetters()
    await Promise.all(Array.from({ length: 20 }, (_, i) => a!.store.execute(add(`${what}-${i}`, `${what}-${i}`))))
    await insertEvent(a!.sql, { id: what, ...columns })
    await insertEvent(a!.sql, { id: what, sequence: 2, type: 'counted', payload: { by: '' } })
    await Promise.all(Array.from({ length: 20 }, (_, i) => b!.store.execute(count(`${what}-${i}`))))
    await vi.waitFor(async () => expect(await deadLetters()).toHaveLength(before.length + 1), {
      timeout: 15_000,
      interval: 50,
    })
    await theRestIsPublished()

    const [first] = await positionsOf(what)
    expect((await deadLetters()).at(-1)).toEqual({ position: first, reason: expect.stringMatching(reason) })
    const sequences = (await readStream(publishing.admin)).filter(({ aggregateId }) => aggregateId === what)
    expect(sequences.map(({ sequence }) => sequence)).toEqual([2])
    expect(lines.filter(({ level, position }) => level === 50 && position === first)).toHaveLength(1)
    for (const outbox of publishing.outboxes)
      await vi.waitFor(() => expect(outbox.deadLetters()).toBe(before.length + 1))
  },
)

test('an absent broker is no reason to park an event', async () => {
  const before = await deadLetters()
  await publishing.servers.nats!.kill()
  await Promise.all(Array.from({ length: 20 }, (_, i) => a!.store.execute(add(`away-${i}`, `away-${i}`))))
  await publishing.servers.nats!.start()
  await theRestIsPublished()
  expect(await deadLetters()).toEqual(before)
})

test('a dead letter that is published anew is none any more', async () => {
  const [first] = await deadLetters()
  await a!.sql`update events set payload = '{"name": "short"}' where position = ${first!.position}`
  await (await publishing.admin.connection.jetstreamManager()).streams.purge('roster-events')
  await vi.waitFor(
    async () => expect((await deadLetters()).map(({ position }) => position)).not.toContain(first!.position),
    {
      timeout: 15_000,
      interval: 50,
    },
  )
  await theRestIsPublished()
})

test('ids with line ends, blanks and wildcards create no command or subject, and consumers read them', async () => {
  const ids = ['x 2\r\nhi\r\nPUB hostile 2\r\nhi\r\n', 'a.b', '>', '*', 'a b', '\t', '🦊', 'x\r\n'.repeat(1000)]
  const heard: string[] = []
  publishing.admin.connection.subscribe('>', {
    // A message without content asks for a place, and is not stored.
    callback: (_, { subject, data }) => void (data.length > 0 && heard.push(subject)),
  })
  await publishing.admin.connection.flush()
  for (const id of ids) await insertEvent(a!.sql, { id, organization_id: id, creator: id, request_id: id })
  await theRestIsPublished()
  const events = await readStream(publishing.admin)
  for (const id of ids)
    expect(events).toContainEqual(
      expect.objectContaining({ aggregateId: id, organizationId: id, actor: id, requestId: id, sequence: 1 }),
    )
  const subjects = new Set(heard.filter((subject) => !/^(\$JS|_INBOX|_R_|roster\.happened\.users$)/.test(subject)))
  expect(
    [...subjects].filter((subject) => !/^roster\.events\.users\.[\w%-]+\.counter\.[\w%-]+\.added$/.test(subject)),
  ).toEqual([])
  expect(subjects.size).toBe(ids.length)
})
