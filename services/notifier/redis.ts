import { Redis, type RedisOptions } from 'ioredis'
import type { Setting } from '#lib/config/read-config'
import { refuseOld } from '#lib/health/old-server'
import type { Waits } from '#lib/health/waits'
import { readServerUrls } from '#lib/config/server-urls'

/** BullMQ's keys in Redis begin with this. */
export const queuePrefix = 'roster'

const schemes = ['redis', 'rediss', 'redis+sentinel', 'rediss+sentinel']
const sentinelPort = 26_379

/** A setting that is a URL of Redis, or of its Sentinels. */
export const redisUrl: Setting<string> = {
  read(text) {
    const urls = readServerUrls(text)
    const scheme = urls?.first.protocol.slice(0, -1) ?? ''
    const isSentinel = scheme.endsWith('+sentinel')
    if (!urls || !schemes.includes(scheme) || (!isSentinel && urls.hosts.length > 1))
      throw new Error(`is not a URL of the kind ${schemes.map((one) => `${one}://`).join(' or ')}`)
    if (isSentinel && !masterOf(urls.first))
      throw new Error('does not name the master: redis+sentinel://host:26379/NAME')
    return text
  },
  accepts: schemes.map((scheme) => `\`${scheme}://\``).join(', '),
}

/** What the client takes for a URL of Redis, or of its Sentinels. */
export function redisOptions(text: string): Omit<RedisOptions, 'replyMapping'> {
  const { first, hosts } = readServerUrls(text)!
  const [path, tls] = [first.pathname.slice(1), first.protocol.startsWith('rediss') ? {} : undefined]
  const [username, password] = [first.username, first.password].map(decodeURIComponent)
  const common = { ...(username && { username }), ...(password && { password }), ...(tls && { tls }) }
  if (!first.protocol.endsWith('+sentinel:')) {
    const db = /^\d+$/.test(path) ? Number(path) : 0
    return {
      host: first.hostname.replace(/^\[|\]$/g, '') || 'localhost',
      port: Number(first.port || 6379),
      db,
      ...common,
    }
  }
  const sentinelPassword = first.searchParams.get('sentinel_password')
  return {
    sentinels: hosts.map((host) => ({
      host: host.replace(/:\d+$/, ''),
      port: Number(/:(\d+)$/.exec(host)?.[1] ?? sentinelPort),
    })),
    name: masterOf(first),
    ...common,
    ...(sentinelPassword && { sentinelPassword }),
    ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: tls }),
  }
}

function masterOf({ pathname }: URL): string {
  return decodeURIComponent(pathname.slice(1))
}

/**
 * Opens a connection that waits for Redis as long as it takes and reconnects for ever. Its commands wait, too. A server
 * that is silent for 20 s counts as gone, since BullMQ blocks for 10 s at most.
 */
export function connectRedis(url: string, waits: Waits): Redis {
  const own = {
    maxRetriesPerRequest: null,
    connectTimeout: 5000,
    socketTimeout: 20_000,
    retryStrategy: (times: number) => Math.min(100 * times, 2000) + Math.random() * 100,
  }
  const options = Object.assign(redisOptions(url), own)
  const redis = new Redis(options)
  let reason = new Error('the connection is lost')
  redis.on('error', (error) => {
    reason = error
    // Sentinels that do not answer are asked again without a word.
    if (redis.status !== 'ready') waits.begin('Redis', error)
  })
  redis.on('reconnecting', () => waits.begin('Redis', reason))
  redis.on('ready', () => {
    waits.end('Redis')
    // Whatever fails here is reported elsewhere. A refusal is not caught, so it ends the process.
    void redis.info('server').then(refuseOldRedis, () => {})
  })
  return redis
}

function refuseOldRedis(info: string): void {
  const [, version] = /^redis_version:(\S+)/m.exec(info) ?? []
  if (version !== undefined) refuseOld('Redis', version)
}
