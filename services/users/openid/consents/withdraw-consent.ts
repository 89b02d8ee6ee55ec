import type { WithdrawConsentRequest, WithdrawConsentResponse } from '#gen/roster/users/v1/session_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { requireMayActOn } from '../../directory/may-act-on.ts'
import { type Consent, type ConsentEvent, consentKey, isGiven } from '../events/consent.ts'

export const withdrawConsent = {
  permit: ({ userId }: WithdrawConsentRequest, call: Call, _holdsPermission: boolean, context: Context) =>
    requireMayActOn(context, userId, call),
  handle,
}

async function handle(
  { store }: Context,
  { userId, applicationId }: WithdrawConsentRequest,
  call: Call,
): Promise<WithdrawConsentResponse> {
  return store.execute({
    aggregate: consentKey(applicationId, userId),
    call,
    decide({ state }: Aggregate<Consent>): Decision<ConsentEvent> {
      if (!isGiven(state))
        throw new RosterError('NOT_FOUND', 'CONSENT_NOT_FOUND', 'The user has given this application nothing.')
      return { events: [{ type: 'withdrawn', payload: { userId, applicationId } }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
