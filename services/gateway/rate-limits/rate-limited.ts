import { RosterError } from '#lib/errors'
import { limitsHit } from '#lib/limits-hit'

/**
 * RESOURCE_EXHAUSTED RATE_LIMITED: too many calls of a caller, organization or address. The next call fits after
 * `seconds`.
 */
export function rateLimited(limit: 'caller' | 'organization' | 'address', seconds: number): RosterError {
  limitsHit.add(1, limit)
  return new RosterError('RESOURCE_EXHAUSTED', 'RATE_LIMITED', `This ${limit} made too many calls.`, {
    metadata: { limit },
    retryAfter: Math.max(1, Math.ceil(seconds)),
  })
}
