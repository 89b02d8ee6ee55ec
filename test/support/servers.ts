import { inject } from 'vitest'
import { type Servers, startServers } from '../../deploy/local/servers.ts'
import type { TestServers } from '../infra.ts'

/**
 * The servers of the run. No two files that run at the same time have the same NATS server: else the one would answer the
 * other's requests.
 */
export function testServers(): TestServers {
  const [servers, natsUrls] = [inject('servers'), inject('natsUrls')]
}

/** Starts a NATS server beside these servers. */
export function startMoreNats({ databaseUrl, redisUrl, smtpUrl }: TestServers): Promise<Servers> {
  const env = { ...process.env, NATS_URL: undefined, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, SMTP_URL: smtpUrl }
  return startServers({ ephemeral: true, ports: 'random', env })
}
