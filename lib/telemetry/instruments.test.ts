import { type DataPoint, type Histogram, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { beforeEach, expect, test, vi } from 'vitest'
import { produceHistograms } from './histogram-producer.ts'

class Reader extends MetricReader {
  override async onForceFlush() {}
  override async onShutdown() {}
}

// Each test has instruments that measure nothing yet.
let instruments: typeof import('./instruments.ts')
beforeEach(async () => {
  vi.resetModules()
  instruments = await import('./instruments.ts')
})

function start() {
  const reader = new Reader({ metricProducers: [produceHistograms(instruments.histograms)] })
  const provider = new MeterProvider({ readers: [reader] })
  instruments.startMeasuring(provider.getMeter('roster'))
  return async (name: string) => {
    const { resourceMetrics } = await reader.collect()
    const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
    const points = metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
    return (points as DataPoint<number | Histogram>[]).map(({ attributes, value }) => [
      Object.values(attributes).join(' '),
      typeof value === 'number' ? value : value.buckets.counts,
    ])
  }
}

const facts = { name: 'roster.test', unit: '1', description: 'a test' }

test('before anybody reads, nothing is counted and nothing is watched', async () => {
  const counter = instruments.counter(facts)
  const gauge = instruments.gauge({ ...facts, name: 'roster.other' })
  expect(instruments.measures()).toBe(false)
  counter.add(1)
  gauge.watch(() => 1)
  const read = start()
  expect(instruments.measures()).toBe(true)
  expect(await read('roster.test')).toEqual([['', 0]])
  expect(await read('roster.other')).toEqual([])
})

test('a counter begins at zero for all that its labels list, and counts from then on', async () => {
  const counter = instruments.counter({ ...facts, labels: { a: ['x', 'y'], b: ['1', '2'] } })
  const read = start()
  counter.add(2, 'x', '2')
  counter.add(3, 'x', '2')
  const zero = [
    ['x 1', 0],
    ['y 1', 0],
    ['y 2', 0],
  ]
  expect(await read('roster.test')).toEqual(expect.arrayContaining([...zero, ['x 2', 5]]))
})

test('a value that a label does not list makes no label of its own', async () => {
  const counter = instruments.counter({ ...facts, labels: { a: ['x'] } })
  const read = start()
  for (const name of ['anna@example.com', 'berta@example.com']) counter.add(1, name)
  const values = await read('roster.test')
  expect(values).toEqual([
    ['x', 0],
    ['_OTHER', 2],
  ])
})

test('a histogram counts up to its bounds', async () => {
  const histogram = instruments.histogram({ ...facts, labels: { a: 'operation' }, bounds: [1, 2] })
  const read = start()
  for (const value of [0.5, 1.5, 2, 9]) histogram.record(value, 'Op')
  expect(await read('roster.test')).toEqual([['Op', [1, 2, 1]]])
})

test('a gauge is read when somebody asks, and only while it is watched', async () => {
  const gauge = instruments.gauge({ ...facts, labels: { a: ['x', 'y'] } })
  const read = start()
  let value: number | undefined = 1
  const asked = vi.fn<() => number | undefined>(() => value)
  const end = gauge.watch(asked, 'x')
  expect(await read('roster.test')).toEqual([['x', 1]])
  value = 7
  expect(await read('roster.test')).toEqual([['x', 7]])
  end()
  asked.mockClear()
  await read('roster.test')
  expect(asked).not.toHaveBeenCalled()
})

test('an instrument that is declared late measures, too', async () => {
  const read = start()
  const counter = instruments.counter(facts)
  counter.add(4)
  expect(await read('roster.test')).toEqual([['', 4]])
})
