import { Redis } from 'ioredis'
import type { Log } from '#lib/log'
import { throttled } from '#lib/throttled'

/** BullMQ's keys in Redis begin with this. */
export const queuePrefix = 'roster'

/**
 * Opens a connection that waits for Redis as long as it takes and reconnects for ever. Its commands wait, too. A server
 * that is silent for 20 s counts as gone, since BullMQ blocks for 10 s at most.
 */
export function connectRedis(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: 5000,
    socketTimeout: 20_000,
    retryStrategy: (times) => Math.min(100 * times, 2000) + Math.random() * 100,
  })
  redis.on('error', throttled(log, 'Redis'))
  return redis
}
