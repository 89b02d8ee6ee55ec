import { inject } from 'vitest'
import type { TestServers } from '../infra.ts'

/** Which of the NATS servers this process has: test/claim-nats.ts. */
export const claimed = ((globalThis as { rosterNats?: { index?: number } }).rosterNats ??= {})

/**
 * The servers of the run. No two files that run at the same time have the same NATS server: else the one would answer the
 * other's requests.
 */
export function testServers(): TestServers {
  return { ...inject('servers'), natsUrl: inject('natsServers')[claimed.index!]!.natsUrl }
}
