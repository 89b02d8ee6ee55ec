import { RosterError } from '#lib/errors'
import type { Decision } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import {
  type Authorization,
  type AuthorizationEvent,
  type EndReason,
  endOf,
  type RefusalReason,
} from '../events/authorization.ts'

/** The error for whatever an application presents that gives it nothing. */
export function invalidGrant(): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'INVALID_GRANT', 'There is no such grant, or it is over.')
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
    uses: [
      {
        key: keys.mac('refused-uses', keys.currentId, [authorizationId]).toString('base64'),
        limits: [{ most: 10, seconds: 3600 }],
        exceeded: () => invalidGrant(),
      },
    ],
    error: invalidGrant(),
    answer: undefined,
  }
}

/** Ends an authorization. Its tokens go in the same transaction. */
export function endAuthorization(
  authorization: Authorization,
  reason: EndReason,
  error = invalidGrant(),
): Decision<AuthorizationEvent, undefined> {
  return { events: [endOf(authorization, reason)], error, answer: undefined }
}
