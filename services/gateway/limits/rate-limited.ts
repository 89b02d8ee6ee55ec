import { RosterError } from '#lib/errors'

/** RESOURCE_EXHAUSTED RATE_LIMITED: too many calls of the caller, its organization or its address; one fits after so many seconds. */
export function rateLimited(limit: 'caller' | 'organization' | 'address', seconds: number): RosterError {
  return new RosterError('RESOURCE_EXHAUSTED', 'RATE_LIMITED', `There were too many calls of this ${limit}.`, {
    metadata: { limit },
    retryAfter: Math.max(1, Math.ceil(seconds)),
  })
}
