import { beforeAll, expect, test } from 'vitest'
import { add, audit, openReplicas, outcome, rename, type Replica } from '#test/support/counters'

let [a, b]: Replica[] = []

beforeAll(async () => {
  const { replicas, stop } = await openReplicas()
  ;[a, b] = replicas
  return stop
})

/** Runs the commands in one transaction, one after the other. */
const together = (...commands: any[]) => Promise.all(commands.map((command) => outcome(a!.store.execute(command))))
const holder = async (name: string) =>
  (await a!.sql<{ id: string }[]>`select aggregate_id as id from unique_keys where key = ${name}`)[0]?.id

test.each([1, 2, 3])('of 50 commands that want one name over two replicas, one gets it (%i)', async (round) => {
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      outcome((index % 2 ? a! : b!).store.execute(add(`${round}-${index}`, `wanted-${round}`))),
    ),
  )
  expect(outcomes.filter((reason) => reason === 'stored')).toHaveLength(1)
  expect(outcomes.filter((reason) => reason === 'NAME_TAKEN')).toHaveLength(49)
})

test('of 50 commands that want one id over two replicas, one gets it', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      outcome((index % 2 ? a! : b!).store.execute(add('wanted', `name-${index}`))),
    ),
  )
  expect(outcomes.filter((reason) => reason === 'stored')).toHaveLength(1)
  expect(outcomes.filter((reason) => reason === 'ID_TAKEN')).toHaveLength(49)
})

test('a name that was given up can be taken, even in the same transaction', async () => {
  await a!.store.execute(add('arthur', 'x'))
  expect(await together(rename('arthur', 'y'), add('bedivere', 'x'))).toEqual(['stored', 'stored'])
  expect([await holder('x'), await holder('y')]).toEqual(['bedivere', 'arthur'])
})

test('a name that another aggregate took in the same transaction cannot be taken back', async () => {
  await a!.store.execute(add('galahad', 'g'))
  const outcomes = await together(rename('galahad', 'h'), add('hector', 'g'), rename('galahad', 'g'))
  expect(outcomes).toEqual(['stored', 'stored', 'NAME_TAKEN'])
  expect([await holder('g'), await holder('h')]).toEqual(['hector', 'galahad'])
})

test('a name passes through three holders in one transaction and stays with the last', async () => {
  await a!.store.execute(add('kay', 'k'))
  const outcomes = await together(
    rename('kay', 'k1'),
    add('lot', 'k'),
    rename('lot', 'l'),
    add('mark', 'k'),
    rename('kay', 'l1'),
    add('nimue', 'k1'),
  )
  expect(new Set(outcomes)).toEqual(new Set(['stored']))
  expect([await holder('k'), await holder('l'), await holder('l1'), await holder('k1')]).toEqual([
    'mark',
    'lot',
    'kay',
    'nimue',
  ])
})

test('a claim before the release of the name in the same transaction is refused', async () => {
  await a!.store.execute(add('percival', 'p'))
  const outcomes = await together(add('thief', 'p'), rename('percival', 'q'))
  expect(outcomes).toEqual(['NAME_TAKEN', 'stored'])
  expect([await holder('p'), await holder('q')]).toEqual([undefined, 'percival'])
})

test('a held name cannot be taken, not even for a moment before a rename', async () => {
  await a!.store.execute(add('tristan', 't'))
  const outcomes = await together(add('usurper', 't'), rename('usurper', 'u'))
  expect(outcomes).toEqual(['NAME_TAKEN', 'COUNTER_NOT_FOUND'])
})

test('a refusal never depends on a batch that failed', async () => {
  await a!.store.execute(add('uther', 'crown'))
  // `vortigern` would take "helm" but is refused, so "helm" stays free for the next command.
  const vortigern = add('vortigern', 'helm')
  const greedy = {
    ...vortigern,
    decide: (counter: any) => {
      const decision = vortigern.decide(counter)
      return { ...decision, claims: [...decision.claims!, ...add('', 'crown').decide(counter).claims!] }
    },
  }
  expect(await together(greedy, add('wace', 'helm'))).toEqual(['NAME_TAKEN', 'stored'])
})

test('state, projection and unique keys match the events', async () => {
  await audit(a!.sql)
})
