import type { IDPIntentProof } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { credentialsInvalid } from '../../directory/passwords/check-password.ts'
import { isActive } from '../../directory/states/user-state.ts'
import type { ProvedFactor } from '../factors/factor.ts'
import { followProvider } from '../follow-provider.ts'
import { findLinked, provedProvider } from '../factors/provider/provider.ts'
import { findProvedIntent, intentNotFound, useOf } from './intent-rows.ts'

export interface FactorOfIntent extends ProvedFactor {
  /** Once it is recorded, as after a sign-in on Roster's pages. `isComplete`: the session lacks nothing. */
  follow(isComplete: boolean): Promise<void>
}

/**
 * The factor of a sign-in at an identity provider that the caller began: of the user who is linked to whom it proved. Whether the
 * policy lists the provider, and it still serves, is seen where the factor is recorded, as on Roster's pages. NOT_FOUND
 * IDP_INTENT_NOT_FOUND; UNAUTHENTICATED CREDENTIALS_INVALID: nobody is linked.
 */
export async function provedByIntent(context: Context, proof: IDPIntentProof, call: Call): Promise<FactorOfIntent> {
  const intent = await findProvedIntent(context, proof, call.caller.userId)
  const { proved } = intent.progress
  const user = await findLinked(context, proved)
  if (!user) throw credentialsInvalid()
  if (!isActive(user.state)) context.failureCounts.note(user.userId, 'user-not-active')
  return {
    ...provedProvider(user, proved),
    claims: [{ ...useOf(intent), taken: intentNotFound() }],
    follow: (isComplete) => followProvider(context, user, { ...proved, at: new Date(proved.at) }, isComplete, call),
  }
}
