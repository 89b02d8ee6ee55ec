import { gauge } from '../telemetry/instruments.ts'

export const connections = gauge({
  name: 'db.client.connection.count',
  unit: '{connection}',
  description: 'open connections to PostgreSQL, by pool and state',
  labels: { 'db.client.connection.pool.name': ['main', 'operations'], 'db.client.connection.state': ['idle', 'used'] },
})

export const mostConnections = gauge({
  name: 'db.client.connection.max',
  unit: '{connection}',
  description: 'the most connections that the pool opens',
  labels: { 'db.client.connection.pool.name': ['main', 'operations'] },
})

export const pendingStatements = gauge({
  name: 'db.client.connection.pending_requests',
  unit: '{request}',
  description: 'statements and transactions that wait for a connection of the pool',
  labels: { 'db.client.connection.pool.name': ['main', 'operations'] },
})

export const clockOffset = gauge({
  name: 'roster.clock.offset',
  unit: 's',
  description: "how far PostgreSQL's clock is ahead of the process's; negative: behind",
})

export const outboxLag = gauge({
  name: 'roster.tail.lag',
  unit: '{event}',
  description: 'committed events that JetStream does not have yet; the count ends at 10,001',
})

export const outboxLagAge = gauge({
  name: 'roster.tail.lag.age',
  unit: 's',
  description: 'how long the first of these events has waited; 0 if there is none',
})

export const unchained = gauge({
  name: 'roster.audit.unchained',
  unit: '{event}',
  description: 'committed events that the audit chain does not have yet; the count ends at 10,001',
})

export const unsignedAge = gauge({
  name: 'roster.audit.unsigned.age',
  unit: 's',
  description: 'how long the first event that no checkpoint of the audit chain signs has waited; 0 if there is none',
})

export const streamAhead = gauge({
  name: 'roster.stream.ahead',
  unit: '1',
  description: '1 while the stream has events that the database lacks, because the database is older',
})

export const deadLetters = gauge({
  name: 'roster.events.parked',
  unit: '{event}',
  description: 'events that were refused for good: by JetStream (tail), or by work that follows events (follower)',
  labels: { 'roster.parked.by': ['tail', 'follower'] },
})

export const oldestTransaction = gauge({
  name: 'roster.transactions.oldest.age',
  unit: 's',
  description:
    'for how long the same transaction of PostgreSQL has been seen as the oldest: the events of all later ones wait for its end',
})

export const oldestPrepared = gauge({
  name: 'roster.transactions.prepared.age',
  unit: 's',
  description: 'how long ago the oldest prepared transaction of PostgreSQL was prepared; 0 if there is none',
})
