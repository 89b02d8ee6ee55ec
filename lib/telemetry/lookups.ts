import { counter } from './instruments.ts'

/** Looks into what the process remembers. */
export const lookups = counter({
  name: 'roster.cache.lookups',
  unit: '{lookup}',
  description: 'answers that were looked for in memory: callers and organizations of the gateway, events of a feed',
  labels: { 'roster.cache': ['callers', 'organizations', 'events'], 'roster.outcome': ['hit', 'miss'] },
})
