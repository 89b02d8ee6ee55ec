import { RosterError } from '#lib/errors'
import type { Caller } from '#lib/rpc/caller'
import { limitsHit } from '#lib/limits-hit'
import { streams } from '../measures.ts'

/** Takes a place for a stream of the caller, and gives the function that frees it. RESOURCE_EXHAUSTED LIMIT_REACHED. */
export type StreamPlaces = (caller: Caller) => () => void

export interface StreamSettings {
  STREAMS_PER_CALLER: number
  STREAMS_PER_ORGANIZATION: number
}

/**
 * Counts the open streams of each caller, and of the organization that the caller belongs to. A setting of 0 is no
 * limit.
 */
export function createStreamPlaces(config: StreamSettings): StreamPlaces {
  const callers = createCounter('streams.caller', config.STREAMS_PER_CALLER)
  const organizations = createCounter('streams.organization', config.STREAMS_PER_ORGANIZATION)
  let open = 0
  streams.watch(() => open)
  return ({ userId, organizationId }) => {
    callers.check(userId)
    organizations.check(organizationId)
    callers.add(userId, 1)
    organizations.add(organizationId, 1)
    open++
    return () => {
      open--
      callers.add(userId, -1)
      organizations.add(organizationId, -1)
    }
  }
}

function createCounter(limit: string, most: number) {
  const counts = new Map<string, number>()
  return {
    check(key: string) {
      if (most === 0 || (counts.get(key) ?? 0) < most) return
      limitsHit.add(1, limit)
      const message = `There are ${most} open streams already.`
      throw new RosterError('RESOURCE_EXHAUSTED', 'LIMIT_REACHED', message, { metadata: { limit }, retryAfter: 5 })
    },
    add(key: string, count: number) {
      const now = (counts.get(key) ?? 0) + count
      if (now === 0) counts.delete(key)
      else counts.set(key, now)
    },
  }
}
