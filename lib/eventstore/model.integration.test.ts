import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { RosterError } from '../errors.ts'
import { add, audit, call, count, openReplica, outcome, rename, type Replica } from '#test/support/counters'

let database: TestDatabase
let replicas: Replica[]

beforeAll(async () => {
  database = await createDatabase()
  replicas = await Promise.all([openReplica(database.urls.users), openReplica(database.urls.users)])
})

afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()))
  await database.drop()
})

/** The rules of the counters, in memory: name and count by id. */
type Model = Map<string, { name: string; count: number }>
type Step = { kind: 'add' | 'count' | 'rename'; id: string; name: string; replica: number; bulk: boolean }

/** Returns the outcome of a command. Changes the model where the command is stored. */
function apply(model: Model, { kind, id, name }: Step): string {
  const counter = model.get(id)
  const isTaken = [...model].some(([holder, held]) => held.name === name && holder !== id)
  if (kind === 'add') {
    if (counter) return 'ID_TAKEN'
    if (isTaken) return 'NAME_TAKEN'
    model.set(id, { name, count: 0 })
    return 'stored'
  }
  if (!counter) return 'COUNTER_NOT_FOUND'
  if (kind === 'rename' && isTaken) return 'NAME_TAKEN'
  model.set(id, kind === 'rename' ? { ...counter, name } : { ...counter, count: counter.count + 1 })
  return 'stored'
}

const step = fc.record({
  kind: fc.constantFrom('add', 'count', 'rename', 'rename'),
  id: fc.constantFrom('a', 'b', 'c'),
  name: fc.constantFrom('x', 'y', 'z'),
  replica: fc.constantFrom(0, 1),
  bulk: fc.boolean(),
}) as fc.Arbitrary<Step>

let run = 0

/**
 * Runs commands concurrently, alone or as parts of a bulk at their replica. Returns their outcomes and the final state.
 */
async function execute(prefix: string, steps: Step[]): Promise<{ outcomes: string[]; state: string }> {
  const outcomes: string[] = []
  const groups = Map.groupBy(steps.keys(), (index) => (steps[index]!.bulk ? replicas[steps[index]!.replica] : index))
  await Promise.all(
    [...groups].map(async ([, indexes]) => {
      const { replica, bulk } = steps[indexes[0]!]!
      const { store } = replicas[replica]!
      const commands = indexes.map((index) => toCommand(prefix, steps[index]!))
      const answers = bulk
        ? await store.executeAll({ commands, call: call(), lane: '', respond: (all) => all.map(reasonOf) })
        : [await outcome(store.execute(commands[0]))]
      for (const [at, index] of indexes.entries()) outcomes[index] = answers[at]!
    }),
  )
  const rows = await replicas[0]!.sql<{ id: string; name: string; count: number }[]>`
    select id, name, count from counts where starts_with(id, ${prefix})
  `
  const state = rows.map(({ id, name, count }) => [id.slice(prefix.length), { name: name.slice(prefix.length), count }])
  return { outcomes, state: spell(new Map(state as never)) }
}

function toCommand(prefix: string, { kind, id, name }: Step): any {
  const [ownId, ownName] = [prefix + id, prefix + name]
  if (kind === 'add') return add(ownId, ownName)
  return kind === 'count' ? count(ownId) : rename(ownId, ownName)
}

const reasonOf = (outcome: unknown) => (outcome instanceof RosterError ? outcome.reason : 'stored')

const spell = (model: Model) => JSON.stringify([...model].sort(([left], [right]) => left.localeCompare(right)))

function* orders<T>(items: T[]): Generator<T[]> {
  if (items.length === 0) yield []
  for (const [index, item] of items.entries())
    for (const rest of orders(items.toSpliced(index, 1))) yield [item, ...rest]
}

test('concurrent commands over two replicas have the same result as in some sequential order', async () => {
  const moments = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(moments, async (all) => {
      const prefix = `${run++}-`
      let model: Model = new Map()
      for (const steps of all) {
        const { outcomes, state } = await execute(prefix, steps)
        const explained = [...orders(steps.map((_, index) => index))].map((order) => {
          const copy: Model = new Map(model)
          const own = order.map((index) => [index, apply(copy, steps[index]!)] as const)
          return { copy, fits: own.every(([index, reason]) => outcomes[index] === reason) && spell(copy) === state }
        })
        const found = explained.find(({ fits }) => fits)
        if (!found)
          expect.fail(`${JSON.stringify({ steps, before: [...model], outcomes, state })} is explained by no order`)
        model = found.copy
      }
    }),
    { numRuns: 150, interruptAfterTimeLimit: 15_000 },
  )
  await audit(replicas[0]!.sql)
})
