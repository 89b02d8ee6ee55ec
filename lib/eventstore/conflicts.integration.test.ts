import { beforeAll, describe, expect, test } from 'vitest'
import { RosterError } from '../errors.ts'
import type { Aggregate } from './aggregate.ts'
import { add, audit, call, count, openReplicas, outcome, rename, type Replica } from '#test/support/counters'
import { createHold } from '#test/support/hold'

let [a, b]: Replica[] = []
const slow = createHold()

beforeAll(async () => {
  const { replicas, stop } = await openReplicas((sql) => sql, slow.wrap)
  ;[a, b] = replicas
  return stop
})

/** Lets `b` decide `late`, then `a` do all of `first`. Only then `b` stores its decision. */
async function overtaken(late: any, ...first: any[]): Promise<string> {
  const { arrived, release } = slow.hold()
  const work = outcome(b!.store.execute(late))
  await arrived
  for (const command of first) await a!.store.execute(command)
  release()
  return work
}

const nameOf = async (id: string) => (await a!.store.load<{ name: string; count: number }>('counter', id))?.state

describe('a command that was overtaken decides again on the present state', () => {
  test('an event of another replica is neither lost nor overwritten', async () => {
    await a!.store.execute(add('both', 'both'))
    expect(await overtaken(count('both'), count('both'), count('both'))).toBe('stored')
    expect(await nameOf('both')).toMatchObject({ count: 3 })
  })

  test('the second creation of an id is refused because of the id, even if its name is taken too', async () => {
    expect(await overtaken(add('twin', 'twin'), add('twin', 'twin'))).toBe('ID_TAKEN')
  })

  test('a rename that another replica already did changes nothing and is no error', async () => {
    await a!.store.execute(add('renamed', 'before'))
    expect(await overtaken(rename('renamed', 'after'), rename('renamed', 'after'))).toBe('stored')
    expect((await a!.store.load('counter', 'renamed'))?.sequence).toBe(2)
  })

  test('a name that became free in the meantime can be taken', async () => {
    await a!.store.execute(add('leaver', 'left'))
    expect(await overtaken(add('heir', 'left'), rename('leaver', 'gone'))).toBe('stored')
  })

  test('a release applies to the present name, so a name that another took meanwhile stays theirs', async () => {
    await a!.store.execute(add('mover', 'seat'))
    expect(await overtaken(rename('mover', 'third'), rename('mover', 'second'), add('sitter', 'seat'))).toBe('stored')
    expect(await outcome(a!.store.execute(add('thief', 'seat')))).toBe('NAME_TAKEN')
  })

  test('a deadline that passes in the meantime ends the retries', async () => {
    await a!.store.execute(add('hurried', 'hurried'))
    const deadline = Date.now() + 50
    const hurried = { ...count('hurried'), call: call(deadline) }
    const { arrived, release } = slow.hold()
    const work = outcome(b!.store.execute(hurried))
    await arrived
    await a!.store.execute(count('hurried'))
    while (Date.now() <= deadline) await new Promise((resolve) => setTimeout(resolve, 5))
    release()
    expect(await work).toBe('DEADLINE_EXCEEDED')
    expect(await nameOf('hurried')).toMatchObject({ count: 1 })
  })
})

test('a refused command stays refused when the rest of its transaction runs again one by one', async () => {
  await a!.store.execute(add('holder', 'held'))
  const poison = {
    ...add('poison', 'poison'),
    decide: () => ({
      organizationId: 'house',
      events: [{ type: 'added', payload: { name: 'poison' } }],
      writes: [(sql: any) => sql`select 1 / 0`],
      answer: undefined,
    }),
  }
  const first = slow.hold()
  const work = [add('refused', 'held'), add('beside', 'beside'), poison].map((command) =>
    outcome(b!.store.execute(command as ReturnType<typeof add>)),
  )
  await first.arrived
  const second = slow.hold()
  first.release()
  await second.arrived
  // The name becomes free, but the first command that wanted it was already refused.
  await a!.store.execute(rename('holder', 'free'))
  second.release()
  const [refused, beside] = await Promise.all(work)
  expect([refused, beside]).toEqual(['NAME_TAKEN', 'stored'])
  expect(await a!.store.load('counter', 'refused')).toBeUndefined()
})

test('commands beyond the limit of waiting ones are refused at once, and the others are carried out', async () => {
  await b!.store.execute(add('flooded', 'flooded'))
  const { arrived, release } = slow.hold()
  const first = outcome(b!.store.execute(count('flooded')))
  await arrived
  const look = { ...count('flooded'), decide: () => ({ events: [], answer: undefined }) }
  const rest = Array.from({ length: 10_003 }, () => b!.store.execute(look))
  const refused = await Promise.all(rest.slice(10_000).map((work) => work.catch((error: unknown) => error)))
  release()
  for (const error of refused) expect(error).toMatchObject({ code: 14, reason: 'STORE_OVERLOADED', retryAfter: 1 })
  const outcomes = await Promise.all([first, ...rest.slice(0, 10_000).map(outcome)])
  expect(new Set(outcomes)).toEqual(new Set(['stored']))
  expect(await outcome(b!.store.execute(count('flooded')))).toBe('stored')
})

const lock = 42
const untilReleased = (sql: any) => sql`select pg_advisory_xact_lock(${lock})`

/**
 * Begins `other` when the transaction of `first` is almost committed. `first` must write `untilReleased`. `waited` says
 * whether `other` waited for that commit.
 */
async function beforeTheCommit<T>(first: () => Promise<T>, other: () => Promise<T>) {
  const waiting = async () => {
    const [row] = await a!.sql`
      select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `
    return row!['count'] as number
  }
  let settled = 0
  const { work, waited } = await a!.sql.begin(async (held) => {
    await untilReleased(held)
    const early = first()
    await expect.poll(waiting).toBe(1)
    const late = other().finally(() => settled++)
    await expect.poll(async () => (await waiting()) + settled).toBe(2)
    return { work: [early, late] as const, waited: settled === 0 }
  })
  return { outcomes: await Promise.all(work), waited }
}

test('no command can take a name while another holds it for a moment within a transaction', async () => {
  const passing = (store: Replica['store'], id: string, from: string, to: string, ...writes: any[]) => {
    const first = { ...add(id, from), decide: (before: any) => ({ ...add(id, from).decide(before), writes }) }
    return Promise.all([outcome(store.execute(first)), outcome(store.execute(rename(id, to)))])
  }
  const { outcomes } = await beforeTheCommit(
    () => passing(b!.store, 'bors', 'boot', 'bow', untilReleased),
    () => passing(a!.store, 'cador', 'bow', 'boot'),
  )
  // One after the other: Bors holds the bow for good, so Cador cannot even begin with it.
  expect(outcomes).toEqual([
    ['stored', 'stored'],
    ['NAME_TAKEN', 'COUNTER_NOT_FOUND'],
  ])
})

describe('the data that a decision reads', () => {
  const copy = (id: string, from: string) => ({
    aggregate: { type: 'counter', id },
    reads: { read: { type: 'counter', id: from } },
    call: call(),
    decide(_: unknown, _now: Date, { read }: { read: Aggregate<any> }) {
      if (!read.state) throw new RosterError('NOT_FOUND', 'COUNTER_NOT_FOUND', '')
      const name = `${read.state.name}-${id}`
      return { organizationId: 'house', claims: [], events: [{ type: 'added', payload: { name } }], answer: name }
    },
  })

  test('stays unchanged until the decision is stored, else the command decides again', async () => {
    await a!.store.execute(add('original', 'first'))
    expect(await overtaken(copy('copy', 'original'), rename('original', 'last'))).toBe('stored')
    expect(await nameOf('copy')).toMatchObject({ name: 'last-copy' })
  })

  test('includes the changes of earlier commands in the same transaction', async () => {
    const [, copied] = await Promise.all([
      a!.store.execute(add('early', 'early')),
      a!.store.execute(copy('early-copy', 'early')),
    ])
    expect(copied.answer).toBe('early-early-copy')
  })

  // Nothing is stored with it. It may still have seen a change from its own transaction beside older data.
  test.each(['answered', 'refused'])(
    'belongs to one moment, even where nothing changes and the caller is %s',
    async (way) => {
      const [left, right, eye] = ['left', 'right', 'eye'].map((name) => `${way} ${name}`) as [string, string, string]
      for (const id of [left, right, eye]) await a!.store.execute(add(id, id))
      // It counts only while `left` has not counted, so it comes before the count of `left`.
      const early = {
        ...count(right),
        reads: { other: { type: 'counter', id: left } },
        decide(counter: Aggregate<any>, _now: Date, { other }: { other: Aggregate<any> }) {
          if (other.state.count > 0) throw new RosterError('FAILED_PRECONDITION', 'TOO_LATE', '')
          return count(right).decide(counter)
        },
      }
      const looking = {
        aggregate: { type: 'counter', id: eye },
        reads: { hands: [left, right].map((id) => ({ type: 'counter', id })) },
        call: call(),
        decide(_own: unknown, _now: Date, { hands }: { hands: Aggregate<any>[] }) {
          const answer = hands.map(({ state }) => state.count as number)
          if (way === 'refused') throw new RosterError('FAILED_PRECONDITION', `SAW_${answer.join('_')}`, '')
          return { events: [], answer }
        },
      }
      const { arrived, release } = slow.hold()
      const counted = b!.store.execute(count(left))
      const looked = b!.store.execute(looking).then(
        ({ answer }) => `SAW_${answer.join('_')}`,
        (error: RosterError) => error.reason,
      )
      await arrived
      expect(await outcome(a!.store.execute(early))).toBe('stored')
      release()
      await counted
      // A reader that sees the count of `left` also sees that of `right`.
      expect(['SAW_0_0', 'SAW_0_1', 'SAW_1_1']).toContain(await looked)
    },
  )

  test('stays missing until the decision is stored: its creator waits', async () => {
    await a!.store.execute(add('standing', 'standing'))
    const standing = {
      ...count('standing'),
      reads: { ghost: { type: 'counter', id: 'ghost' } },
      decide: (_: unknown, _now: Date, { ghost }: { ghost: Aggregate<any> }) => ({
        events: ghost.state ? [] : [{ type: 'counted', payload: { by: '' } }],
        writes: [untilReleased],
        answer: undefined,
      }),
    }
    const { outcomes, waited } = await beforeTheCommit(
      () => outcome(b!.store.execute(standing)),
      () => outcome(a!.store.execute(add('ghost', 'ghost'))),
    )
    expect(outcomes).toEqual(['stored', 'stored'])
    expect(waited).toBe(true)
    expect(await nameOf('standing')).toMatchObject({ count: 1 })
  })

  test('never makes two replicas wait for each other for ever', async () => {
    await a!.store.execute(add('left', 'left hand'))
    await a!.store.execute(add('right', 'right hand'))
    const reading = (id: string, other: string) => ({ ...count(id), reads: { other: { type: 'counter', id: other } } })
    const work = Array.from({ length: 20 }, () => [
      a!.store.execute(reading('left', 'right')),
      b!.store.execute(reading('right', 'left')),
    ])
    await Promise.all(work.flat())
    expect(await nameOf('left')).toMatchObject({ count: 20 })
    expect(await nameOf('right')).toMatchObject({ count: 20 })
  })
})

test('state, projection and unique keys match the events', async () => {
  // The copies claim no name.
  await a!.sql`insert into unique_keys select 'name', '', state ->> 'name', id from aggregates where id like '%copy'`
  await audit(a!.sql)
})
