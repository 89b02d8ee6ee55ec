import { inject } from 'vitest'
import type { TestServers } from '../infra.ts'

/**
 * The servers of the run. No two files that run at the same time have the same NATS server: else the one would answer the
 * other's requests.
 */
export function testServers(): TestServers {
  const [servers, natsUrls] = [inject('servers'), inject('natsUrls')]
  return { ...servers, natsUrl: natsUrls[Number(process.env['VITEST_POOL_ID']) % natsUrls.length]! }
}
