import { beforeAll, describe, expect, test } from 'vitest'
import { add, audit, call, count, openReplicas, outcome, rename, type Replica } from '#test/support/counters'

let [a, b]: Replica[] = []

beforeAll(async () => {
  const { replicas, stop } = await openReplicas()
  ;[a, b] = replicas
  return stop
})

const replica = (index: number) => (index % 2 === 0 ? a! : b!).store
const times = (n: number) => Array.from({ length: n }, (_, index) => index)

async function eventsOf(id: string) {
  return a!.sql<{ sequence: string; type: string; by: string | null }[]>`
    select sequence, type, payload ->> 'by' as by from events where aggregate_id = ${id} order by sequence
  `
}

test('a stale If-Match refuses also what would change nothing', async () => {
  await a!.store.execute(add('bound', 'bound'))
  const bound = (ifMatch: number[]) => {
    const command = rename('bound', 'bound')
    return outcome(a!.store.execute({ ...command, call: { ...command.call, ifMatch } }))
  }
  expect([await bound([1]), await bound([2])]).toEqual(['stored', 'SEQUENCE_MISMATCH'])
})

describe('events', () => {
  test('of an aggregate are numbered from 1 without a gap; its details come from the first and the last', async () => {
    const { after: added } = await a!.store.execute(add('numbered', 'numbered'))
    const { before, after, answer } = await b!.store.execute(count('numbered'))
    expect([added.sequence, before.sequence, after.sequence, answer]).toEqual([1, 1, 2, 1])
    expect(after.createdAt).toEqual(added.createdAt)
    expect(after.organizationId).toBe('house')
    expect((await eventsOf('numbered')).map(({ sequence }) => sequence)).toEqual(['1', '2'])
  })

  test('are stored once for each acknowledged command: 200 on one aggregate over two replicas', async () => {
    await a!.store.execute(add('one', 'one'))
    const names = times(200).map((index) => `command ${index}`)
    const outcomes = await Promise.all(names.map((name, index) => replica(index).execute(count('one', name))))
    expect(new Set(outcomes.map(({ after }) => after.sequence)).size).toBe(200)
    expect(outcomes.every(({ after, answer }) => after.sequence === answer + 1)).toBe(true)
    expect((await eventsOf('one')).flatMap(({ by }) => by ?? []).sort()).toEqual([...names].sort())
  })

  test('are stored once for each acknowledged command: 1000 on 50 aggregates over two replicas', async () => {
    await Promise.all(times(50).map((index) => replica(index).execute(add(`many-${index}`, `many-${index}`))))
    await Promise.all(times(1000).map((index) => replica(index * 7).execute(count(`many-${index % 50}`, `${index}`))))
    const rows = await a!.sql<{ by: string }[]>`
      select payload ->> 'by' as by from events where aggregate_id like 'many-%' and type = 'counted'
    `
    expect(rows.map(({ by }) => Number(by)).sort((left, right) => left - right)).toEqual(times(1000))
  })

  test('do not exist for a command that changes nothing, and its answer is up to date', async () => {
    await a!.store.execute(add('still', 'still'))
    const { before, after } = await a!.store.execute(rename('still', 'still'))
    expect(after).toEqual(before)
    expect(await eventsOf('still')).toHaveLength(1)
  })

  test('name their creator, their request and the event that caused them', async () => {
    const caller = { ...call().caller, userId: 'arthur' }
    const own = { ...call(), caller, requestId: 'request-1', cause: 'users-17' }
    await a!.store.execute({ ...add('signed', 'signed'), call: own })
    await a!.store.execute(count('signed'))
    const [event, later] = await a!.sql`
      select creator, request_id, cause, organization_id from events where aggregate_id = 'signed' order by sequence
    `
    expect(event).toEqual({ creator: 'arthur', request_id: 'request-1', cause: 'users-17', organization_id: 'house' })
    expect(later).toMatchObject({ cause: null })
  })
})

describe('an error of the decision', () => {
  test('that comes with events is thrown after they are stored', async () => {
    await a!.store.execute(add('marked', 'marked'))
    const { decide, ...rest } = count('marked')
    const error = new Error('wrong try')
    const marked = { ...rest, decide: (counter: any) => ({ ...decide(counter), error: error as never }) }
    await expect(a!.store.execute(marked)).rejects.toBe(error)
    expect(await eventsOf('marked')).toHaveLength(2)
  })

  test('does not touch the commands that share its transaction', async () => {
    const outcomes = await Promise.all([
      outcome(a!.store.execute(add('beside-1', 'beside-1'))),
      outcome(a!.store.execute(count('absent'))),
      outcome(a!.store.execute(add('beside-2', 'beside-2'))),
    ])
    expect(outcomes).toEqual(['stored', 'COUNTER_NOT_FOUND', 'stored'])
  })
})

describe('a poisonous command fails alone', () => {
  const poison = (decide: () => any) => ({ aggregate: { type: 'counter', id: 'poison' }, call: call(), decide })
  const poisons: Record<string, () => any> = {
    'that throws a string': () => {
      throw 'poison'
    },
    'whose payload PostgreSQL cannot hold': () => ({
      organizationId: 'house',
      events: [{ type: 'added', payload: { name: 'a\0b' } }],
    }),
    'whose own statement fails': () => ({
      organizationId: 'house',
      events: [{ type: 'added', payload: { name: 'x' } }],
      writes: [(sql: any) => sql`select 1 / 0`],
    }),
    'whose own statement breaks a constraint': () => ({
      organizationId: 'house',
      events: [{ type: 'added', payload: { name: 'x' } }],
      writes: [(sql: any) => sql`insert into counts (id, name, count) values ('y', 'y', 5000)`],
    }),
    'of an aggregate without an organization': () => ({ events: [{ type: 'added', payload: { name: 'x' } }] }),
    'that decides nothing at all': () => undefined,
  }

  test.each(Object.keys(poisons))('%s', async (name) => {
    const id = `good ${name}`
    const results = await Promise.all([
      outcome(a!.store.execute(add(id, id))),
      outcome(a!.store.execute(poison(poisons[name]!))),
      outcome(a!.store.execute(count(id))),
    ])
    expect([results[0], results[2]]).toEqual(['stored', 'stored'])
    expect(results[1]).not.toBe('stored')
    expect(await eventsOf('poison')).toEqual([])
    expect(await eventsOf(id)).toHaveLength(2)
  })
})

test('a command whose deadline passed while it waited never starts', async () => {
  let decided = false
  const late = { ...add('late', 'late'), call: call(Date.now() - 1) }
  const command = { ...late, decide: (counter: any) => ((decided = true), late.decide(counter)) }
  expect(await outcome(a!.store.execute(command))).toBe('DEADLINE_EXCEEDED')
  expect(decided).toBe(false)
})

test('state, projection and unique keys match the events', async () => {
  await audit(a!.sql)
})

test('neighbouring rows of the same kind share one statement, and all writes keep their order', async () => {
  await a!.sql`create table written (n int)`
  await a!.store.execute(add('written', 'written'))
  const groups: number[][] = []
  const into = (sql: any, rows: { n: number }[]) => {
    groups.push(rows.map(({ n }) => n))
    return sql`insert into written select * from jsonb_populate_recordset(null::written, ${JSON.stringify(rows)}::text::jsonb)`
  }
  const insert = (n: number) => ({ row: { n }, into })
  const emptied = (sql: any) => sql`delete from written`
  const { decide, ...rest } = count('written')
  const writes = [insert(1), insert(2), emptied, insert(3), insert(4)]
  await a!.store.execute({ ...rest, decide: (counter: any) => ({ ...decide(counter), writes }) })
  expect(groups).toEqual([
    [1, 2],
    [3, 4],
  ])
  expect(await a!.sql`select n from written order by n`).toEqual([{ n: 3 }, { n: 4 }])
})
