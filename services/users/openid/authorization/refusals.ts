import { RosterError } from '#lib/errors'
import type { Keyring } from '#lib/encryption/keys'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, Use } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type Session, type SessionEvent, sessionKey } from '../../sessions/events/session.ts'
import type { SealedGrant } from './sealed-code.ts'
import {
  type Authorization,
  type AuthorizationEvent,
  type EndReason,
  endOf,
  type RefusalReason,
} from '../events/authorization.ts'

/** Why a code or a refresh token gives nothing. `unknown`: Roster never made it, or what came of it is long over. */
export type GrantFault = 'unknown' | RefusalReason | EndReason

/** The error for whatever an application presents that gives it nothing. `refuseGrant` says who is told what of the fault. */
export function invalidGrant(fault: GrantFault): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'INVALID_GRANT', 'There is no such grant, or it is over.', {
    cause: fault,
  })
}

/** The fault of an error of `invalidGrant`. */
export function grantFaultOf({ reason, cause }: RosterError): GrantFault | undefined {
  return reason === 'INVALID_GRANT' ? (cause as GrantFault) : undefined
}

/** The fault of what stands on an authorization that is over. Another application learns nothing of its end. */
export function faultOfEnded(
  authorization: Authorization | undefined,
  what: 'code' | 'refresh-token',
  { id }: { id: string },
): GrantFault {
  if (!authorization) return 'unknown'
  if (authorization.applicationId !== id) return 'client'
  return what === 'code' && authorization.redeemed ? 'code-reuse' : (authorization.ended ?? 'unknown')
}

/** Refuses a code that was never redeemed, so that there is no authorization: ten in an hour are events of its session. */
export async function refuseUnused(
  { store, keys }: Pick<Context, 'store' | 'keys'>,
  { authorizationId, granted: { userId, applicationId, sessionId } }: SealedGrant,
  reason: RefusalReason | EndReason,
  { requestId, deadline }: Pick<Call, 'requestId' | 'deadline'>,
): Promise<never> {
  const payload = { userId, applicationId, authorizationId, reason }
  await store.execute({
    aggregate: sessionKey(sessionId),
    call: { caller: { userId }, requestId, deadline },
    decide({ state }: Aggregate<Session>): Decision<SessionEvent> {
      if (!state) throw invalidGrant(reason)
      const uses = [refusedUse(keys, sessionId, reason)]
      return { events: [{ type: 'code.refused', payload }], uses, error: invalidGrant(reason), answer: undefined }
    },
  })
  throw invalidGrant(reason)
}

function refusedUse(keys: Keyring, id: string, reason: GrantFault): Use {
  return {
    key: keys.mac('refused-uses', keys.currentId, [id]).toString('base64'),
    limits: [{ most: 10, seconds: 3600 }],
    exceeded: () => invalidGrant(reason),
  }
}

/** Refuses something that is right, but comes in a wrong way. Nothing changes; ten in an hour are events. */
export function refusing(
  { keys }: Pick<Context, 'keys'>,
  authorizationId: string,
  what: 'code' | 'refresh-token',
  reason: RefusalReason,
): Decision<AuthorizationEvent, undefined> {
  return {
    events: [{ type: 'refused', payload: { what, reason } }],
    uses: [refusedUse(keys, authorizationId, reason)],
    error: invalidGrant(reason),
    answer: undefined,
  }
}

/** Ends an authorization. Its tokens go in the same transaction. */
export function endAuthorization(
  authorization: Authorization,
  reason: EndReason,
): Decision<AuthorizationEvent, undefined> {
  return { events: [endOf(authorization, reason)], error: invalidGrant(reason), answer: undefined }
}
