import { everybodyOf, everythingOf } from '#lib/events/hints'
import type { Happened } from '#lib/outbox/announcer'
import { endsUse } from './directory/states/user-state.ts'
import { authorizationType } from './openid/events/authorization.ts'
import { closureType } from './openid/events/closure.ts'
import { consentType } from './openid/events/consent.ts'
import { loginPolicyType } from './sessions/events/login-policy.ts'
import { organizationType } from './directory/events/organization.ts'

/** The user whose tokens an event ends; or the organization, application or project that closes. */
export function callerChangedBy({ aggregate_type, aggregate_id, type, payload }: Happened): string | undefined {
  switch (aggregate_type) {
    case 'user':
      return endsCredential.has(type) || endsUse.has(type) ? aggregate_id : undefined
    case 'authentication':
      return type === 'token.revoked' ? aggregate_id : undefined
    case 'session':
    case authorizationType:
    case consentType:
      return endsTokens.has(type) ? (payload as { userId: string } | null)?.userId : undefined
    // It was known here before grants announced it.
    case organizationType:
      return everybodyOf(aggregate_id)
    // A session that lacks a factor now opens nothing.
    case loginPolicyType:
      return everybodyOf(aggregate_id)
    case closureType:
      return everythingOf(aggregate_id)
  }
  return undefined
}

// A further check of a session gives it another token.
const endsTokens = new Set(['ended', 'factor.checked', 'token.revoked', 'withdrawn'])

const endsCredential = new Set([
  'pat.removed',
  'key.removed',
  'secret.removed',
  'machine.dpop.changed',
  'password.changed',
  'factor.added',
  // A security key is asked for from now on.
  'passkey.added',
  'signed.out',
  // A session that began there opens nothing more.
  'idp.unlinked',
])
