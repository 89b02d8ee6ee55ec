import { beforeAll, expect, test } from 'vitest'
import { telemetry } from '#lib/telemetry/telemetry'
import { add, count, openReplicas, type Replica } from '#test/support/counters'
import { startTracing } from '#test/support/tracing'

let replica: Replica

beforeAll(async () => {
  const { replicas, stop } = await openReplicas()
  replica = replicas[0]!
  return stop
})

const traceparents = async (id: string) => {
  const rows = await replica.sql<{ traceparent: string | null }[]>`
    select traceparent from events where aggregate_id = ${id} order by sequence
  `
  return rows.map(({ traceparent }) => traceparent)
}
const inTrace = <T>(work: () => Promise<T>) => telemetry.tracing!.enter({ name: 'request' }, undefined, work)

test('an event keeps its place in a trace that is sampled, and none else', async () => {
  await replica.store.execute(add('kept', 'kept'))
  const tracing = await startTracing()
  await replica.store.execute(count('kept'))
  await inTrace(() => replica.store.execute(count('kept')))
  const spans = await tracing.spans()
  const none = await startTracing({ OTEL_TRACES_SAMPLER: 'always_off' })
  await inTrace(() => replica.store.execute(count('kept')))
  expect(await none.spans()).toEqual([])
  const { traceId, spanId } = spans.find(({ name }) => name === 'execute command')!
  expect(await traceparents('kept')).toEqual([null, null, `00-${traceId}-${spanId}-01`, null])
})

test('commands of one transaction keep their own traces; its spans are in the first, with links to the others', async () => {
  const ids = ['one', 'two', 'three']
  for (const id of ids) await replica.store.execute(add(id, id))
  const tracing = await startTracing()
  const untraced = replica.store.execute(count('one'))
  await Promise.all([untraced, ...['two', 'three'].map((id) => inTrace(() => replica.store.execute(count(id))))])
  const spans = await tracing.spans()
  const commands = spans.filter(({ name }) => name === 'execute command')
  const places = commands.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)
  expect(new Set(commands.map(({ traceId }) => traceId)).size).toBe(2)
  expect([await traceparents('one'), await traceparents('two'), await traceparents('three')]).toEqual([
    [null, null],
    [null, expect.toBeOneOf(places)],
    [null, expect.toBeOneOf(places)],
  ])
  const [batch, ...others] = spans.filter(({ name }) => name === 'store batch')
  expect(others).toEqual([])
  const [first, second] = commands[0]!.spanId === batch!.parentId ? commands : commands.toReversed()
  expect(batch).toMatchObject({
    traceId: first!.traceId,
    parentId: first!.spanId,
    links: [{ traceId: second!.traceId, spanId: second!.spanId }],
    attributes: { 'roster.batch.commands': 3 },
  })
  const statements = spans.filter(({ parentId }) => parentId === batch!.spanId)
  expect(new Set(statements.map(({ name }) => name))).toEqual(new Set(['SELECT aggregates', 'decide', 'SELECT append']))
})

test('work after a traced command does not go on in its trace', async () => {
  await replica.store.execute(add('after', 'after'))
  const tracing = await startTracing()
  const traced = inTrace(() => replica.store.execute(count('after')))
  // It waits for the traced one, which has the same aggregate.
  const waiting = replica.store.execute(count('after'))
  await Promise.all([traced, waiting])
  const spans = await tracing.spans()
  for (const part of ['store batch', 'SELECT append']) expect(spans.filter(({ name }) => name === part)).toHaveLength(1)
  expect((await traceparents('after')).filter(Boolean)).toHaveLength(1)
})
