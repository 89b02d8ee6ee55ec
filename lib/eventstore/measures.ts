import { counter, gauge, histogram } from '../telemetry/instruments.ts'

export const batchSize = histogram({
  name: 'roster.store.batch.size',
  unit: '{command}',
  description: 'commands that shared a transaction; its count is the number of transactions. A bulk counts its items',
  labels: { 'roster.kind': ['single', 'bulk'] },
  bounds: [1, 2, 4, 8, 16, 32, 64, 256],
})

export const transactions = histogram({
  name: 'roster.store.transaction.duration',
  unit: 's',
  description: 'how long it took to load, decide and store a batch: the time of PostgreSQL, mostly',
  labels: { 'roster.kind': ['single', 'bulk'] },
  bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
})

export const retries = counter({
  name: 'roster.store.retries',
  unit: '{transaction}',
  description: 'transactions that stored nothing because another one was faster, by what they lost; they run again',
  labels: { 'roster.cause': ['changed', 'taken', 'limit', 'race'] },
})

export const conflicts = counter({
  name: 'roster.store.conflicts',
  unit: '{command}',
  description: 'commands that were given up, after many tries: ABORTED CONFLICT',
})

export const waiting = gauge({
  name: 'roster.store.waiting',
  unit: '{command}',
  description: 'commands that wait for a transaction',
})

export const waitingAge = gauge({
  name: 'roster.store.waiting.age',
  unit: 's',
  description: 'how long the first of these commands has waited',
})
