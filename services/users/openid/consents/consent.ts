import type { Statement } from '#lib/database/database'
import { limitReached } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, Guard } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { type Consent, type ConsentEvent, consentKey } from '../events/consent.ts'
import { sessionKey } from '../../sessions/events/session.ts'
import { userKey } from '../../directory/events/user.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import type { SignedInUser } from '../authorization/facts-of.ts'
import { stillOpen } from '../request/request-row.ts'

/**
 * Stores that a user lets an application be used, and have these scopes. Throws `Superseded` where the session was ended, or the
 * request answered, meanwhile; RESOURCE_EXHAUSTED LIMIT_REACHED.
 */
export async function giveConsent(
  { store, arrivals }: Context,
  { application, userId, organizationId, sessionId }: SignedInUser,
  scopes: readonly string[],
  request: { requestId: string; next: Statement },
  { requestId, deadline }: Call,
): Promise<void> {
  await store.execute({
    aggregate: consentKey(application.id, userId),
    reads: { user: userKey(userId), session: sessionKey(sessionId) },
    call: { caller: { userId }, requestId, deadline },
    decide(_consent: Aggregate<Consent>, _now, { user, session }): Decision<ConsentEvent> {
      if (!isActive(user.state) || session.state?.ended !== false) throw new Superseded()
      return {
        organizationId,
        events: [{ type: 'given', payload: { userId, applicationId: application.id, scopes: [...scopes] } }],
        writes: [request.next],
        guards: [stillOpen(request.requestId), guardOf(userId, application.id)],
        answer: undefined,
      }
    },
  })
  arrivals.step(application.clientId, 'consent')
}

const mostConsents = 1000

function guardOf(userId: string, applicationId: string): Guard {
  return {
    key: JSON.stringify(['consents', userId]),
    counted: { by: 'count_consents', of: { userId, applicationId } },
    most: mostConsents,
    full: limitReached('user.consents', mostConsents, 'The user has given a thousand applications something.'),
  }
}
