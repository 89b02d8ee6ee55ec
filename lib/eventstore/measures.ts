import { counter, gauge, histogram } from '../telemetry/instruments.ts'

export const batchSize = histogram({
  name: 'roster.store.batch.size',
  unit: '{command}',
  tells: 'commands that shared a transaction; its count is the number of transactions. A bulk counts its items',
  labels: { 'roster.kind': ['single', 'bulk'] },
  bounds: [1, 2, 4, 8, 16, 32, 64, 256],
})

export const transactions = histogram({
  name: 'roster.store.transaction.duration',
  unit: 's',
  tells: 'how long it took to load, decide and store a batch: the time of PostgreSQL, mostly',
  labels: { 'roster.kind': ['single', 'bulk'] },
  bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
})

export const retries = counter({
  name: 'roster.store.retries',
  unit: '{transaction}',
  tells: 'transactions that stored nothing because another one was faster, by what they lost; they run again',
  labels: { 'roster.cause': ['changed', 'taken', 'limit', 'race'] },
})

export const conflicts = counter({
  name: 'roster.store.conflicts',
  unit: '{command}',
  tells: 'commands that were given up, after many tries: ABORTED CONFLICT',
})

export const waiting = gauge({
  name: 'roster.store.waiting',
  unit: '{command}',
  tells: 'commands that wait for a transaction',
})

export const waitingAge = gauge({
  name: 'roster.store.waiting.age',
  unit: 's',
  tells: 'how long the first of these commands has waited',
})

export const outboxLag = gauge({
  name: 'roster.tail.lag',
  unit: '{event}',
  tells: 'committed events that JetStream does not have yet; the count ends at 10,001',
})

export const outboxLagAge = gauge({
  name: 'roster.tail.lag.age',
  unit: 's',
  tells: 'how long the first of these events has waited; 0 if there is none',
})

export const unsignedAge = gauge({
  name: 'roster.audit.unsigned.age',
  unit: 's',
  tells: 'how long the first event that no checkpoint of the audit chain signs has waited; 0 if there is none',
})

export const unchained = gauge({
  name: 'roster.audit.unchained',
  unit: '{event}',
  tells: 'committed events that the audit chain does not have yet; the count ends at 10,001',
})

export const checkpointInterval = gauge({
  name: 'roster.audit.checkpoint.interval',
  unit: 's',
  tells: 'the time between two checkpoints of the audit chain, at the least: CHECKPOINT_INTERVAL',
})

export const published = counter({
  name: 'roster.events.published',
  unit: '{event}',
  tells: 'events that this process brought to JetStream',
})

export const deadLetters = gauge({
  name: 'roster.events.parked',
  unit: '{event}',
  tells: 'events that were refused for good: by JetStream (tail), or by work that follows events (follower)',
  labels: { 'roster.parked.by': ['tail', 'follower'] },
})

export const followed = counter({
  name: 'roster.follower.events',
  unit: '{event}',
  tells: 'events on which a follower worked, such as the removal of what belongs to a removed user',
  labels: { 'roster.follower': 'follower' },
})

export const followerAge = gauge({
  name: 'roster.follower.looked.age',
  unit: 's',
  tells: 'how long ago a follower last looked for events with success; it looks every five seconds',
  labels: { 'roster.follower': 'follower' },
})

export const followerLag = gauge({
  name: 'roster.follower.lag',
  unit: '{event}',
  tells: 'committed events, of any type, at which a follower did not look yet; the count ends at 10,001',
  labels: { 'roster.follower': 'follower' },
})

export const followerLagAge = gauge({
  name: 'roster.follower.lag.age',
  unit: 's',
  tells:
    'how long the first of these events has waited, or how long they could not be counted; up to some seconds ' +
    'are normal',
  labels: { 'roster.follower': 'follower' },
})

export const connections = gauge({
  name: 'db.client.connection.count',
  unit: '{connection}',
  tells: 'open connections to PostgreSQL, by pool and state',
  labels: { 'db.client.connection.pool.name': ['main', 'operations'], 'db.client.connection.state': ['idle', 'used'] },
})

export const mostConnections = gauge({
  name: 'db.client.connection.max',
  unit: '{connection}',
  tells: 'the most connections that the pool opens',
  labels: { 'db.client.connection.pool.name': ['main', 'operations'] },
})

export const pendingStatements = gauge({
  name: 'db.client.connection.pending_requests',
  unit: '{request}',
  tells: 'statements and transactions that wait for a connection of the pool',
  labels: { 'db.client.connection.pool.name': ['main', 'operations'] },
})

export const clockOffset = gauge({
  name: 'roster.clock.offset',
  unit: 's',
  tells: "how far PostgreSQL's clock is ahead of the process's; negative: behind",
})
