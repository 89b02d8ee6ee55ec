import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { keepAnswers } from './idempotent-answers.ts'
import { onceId } from '../rpc/idempotency.ts'
import { add, call, count, keys, openReplicas, outcome, type Replica, silent } from '#test/support/counters'
import { shiftClock } from '#test/support/shift-clock'
import { createHold } from '#test/support/hold'
import { counting } from '#test/support/publishing'

let [a, b]: Replica[] = []
let statements = 0
const slow = createHold()

beforeAll(async () => {
  const { replicas, stop } = await openReplicas((sql) => counting(sql, () => statements++), slow.wrap)
  ;[a, b] = replicas
  return stop
})

/** Executes a command under a key, as `serve` does. The answer names the new sequence. */
async function keyed(replica: Replica, key: string, command: any, request = 'request') {
  const encode = ({ after }: any) => Buffer.from(`made ${after.sequence}`)
  const once = { id: onceId([key]), request, encode }
  const work = async () => encode(await replica.store.execute({ ...command, call: { ...call(), once } }))
  const { bytes, replayed } = await replica.answers.once(once, work)
  return `${Buffer.from(bytes).toString()}${replayed ? ', replayed' : ''}`
}

const sequenceOf = async (id: string) => (await a!.store.load('counter', id))?.sequence

describe('a keyed request', () => {
  test('that reaches two replicas at once has one effect and one answer', async () => {
    await a!.store.execute(add('twice', 'twice'))
    const { arrived, release } = slow.hold()
    const late = keyed(b!, 'twice', count('twice'))
    await arrived
    expect(await keyed(a!, 'twice', count('twice'))).toBe('made 2')
    release()
    expect(await late).toBe('made 2, replayed')
    expect(await sequenceOf('twice')).toBe(2)
  })

  test('gets the answer of its twin, when the twin at another replica took the name first', async () => {
    const { arrived, release } = slow.hold()
    const late = keyed(b!, 'named', add(randomUUID(), 'named'))
    await arrived
    expect(await keyed(a!, 'named', add(randomUUID(), 'named'))).toBe('made 1')
    release()
    expect(await late).toBe('made 1, replayed')
  })

  test('that creates something new has one effect, even if only its key prevents a second one', async () => {
    const [early, never] = [randomUUID(), randomUUID()]
    const { arrived, release } = slow.hold()
    const late = keyed(b!, 'new', add(never, never))
    await arrived
    await keyed(a!, 'new', add(early, early))
    release()
    expect(await late).toBe('made 1, replayed')
    expect(await sequenceOf(never)).toBeUndefined()
  })

  test('does not fail the commands that share its transaction when its twin was faster', async () => {
    await a!.store.execute(add('shared', 'shared'))
    await a!.store.execute(add('beside', 'beside'))
    const { arrived, release } = slow.hold()
    const late = [keyed(b!, 'shared', count('shared')), keyed(b!, 'beside', count('beside'))]
    await arrived
    await keyed(a!, 'shared', count('shared'))
    release()
    expect(await Promise.all(late)).toEqual(['made 2, replayed', 'made 2'])
    expect([await sequenceOf('shared'), await sequenceOf('beside')]).toEqual([2, 2])
  })

  test('is refused without effect when another request took its key first', async () => {
    await a!.store.execute(add('reused', 'reused'))
    const { arrived, release } = slow.hold()
    const late = outcome(keyed(b!, 'reused', count('reused'), 'another'))
    await arrived
    await keyed(a!, 'reused', count('reused'))
    release()
    expect(await late).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await sequenceOf('reused')).toBe(2)
  })

  test('that changes nothing gets the same answer again, even if it would change something now', async () => {
    await a!.store.execute(add('still', 'still'))
    const nothing = { ...count('still'), decide: () => ({ events: [], answer: undefined }) }
    expect(await keyed(a!, 'still', nothing)).toBe('made 1')
    expect(await keyed(b!, 'still', count('still'))).toBe('made 1, replayed')
  })

  test('counts as new after a day, and its new answer is kept likewise', async () => {
    await a!.store.execute(add('daily', 'daily'))
    await keyed(a!, 'daily', count('daily'))
    await shiftClock(a!.sql, '24 hours')
    onTestFinished(() => shiftClock(a!.sql, '0'))
    expect(await keyed(b!, 'daily', count('daily'), 'another')).toBe('made 3')
    expect(await keyed(a!, 'daily', count('daily'), 'another')).toBe('made 3, replayed')
  })
})

test('only answers older than a day are deleted', async () => {
  await a!.sql`
    insert into idempotent_answers (id, key_id, request, answer, failed, created_at)
    select decode(md5(n::text), 'hex'), '', '', '', false, now() - make_interval(hours => case when n <= 2500 then 25 else 23 end)
    from generate_series(1, 2501) n
  `
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const answers = keepAnswers(a!.sql, keys, silent)
  vi.advanceTimersByTime(3_600_000)
  vi.useRealTimers()
  const left = () => a!.sql`select from idempotent_answers where key_id = ''`
  await vi.waitFor(async () => expect((await left()).count).toBe(1))
  answers.stop()
})

test('fifty keyed requests of one moment need three statements', async () => {
  const ids = Array.from({ length: 50 }, () => randomUUID())
  statements = 0
  await Promise.all(ids.map((id) => keyed(a!, id, add(id, id))))
  // One for earlier answers, one for the aggregates, and one transaction.
  expect(statements).toBe(3)
  expect(await Promise.all(ids.map((id) => keyed(a!, id, add(id, id))))).toEqual(ids.map(() => 'made 1, replayed'))
  expect(statements).toBe(4)
})
