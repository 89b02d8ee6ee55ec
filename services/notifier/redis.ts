import { Redis } from 'ioredis'
import type { Waits } from '#lib/health/waits'

/** BullMQ's keys in Redis begin with this. */
export const queuePrefix = 'roster'

/**
 * Opens a connection that waits for Redis as long as it takes and reconnects for ever. Its commands wait, too. A server
 * that is silent for 20 s counts as gone, since BullMQ blocks for 10 s at most.
 */
export function connectRedis(url: string, waits: Waits): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: 5000,
    socketTimeout: 20_000,
    retryStrategy: (times) => Math.min(100 * times, 2000) + Math.random() * 100,
  })
  let reason = new Error('the connection is lost')
  redis.on('error', (error) => (reason = error))
  redis.on('reconnecting', () => waits.begin('Redis', reason))
  redis.on('ready', () => waits.end('Redis'))
  return redis
}
