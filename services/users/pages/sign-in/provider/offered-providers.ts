import type { ProviderButton } from '#gen/roster/users/v1/sign_in_service'
import type { Context } from '../../../context.ts'
import type { KnownProvider } from '../../../sessions/factors/provider/known-providers.ts'
import { policyOfRequest } from '../asks-for-code.ts'
import type { OpenedRequest } from '../opened-request.ts'
import { fixedPerson, type RequestState } from '../request-state.ts'

/**
 * The identity providers of a page: of a known person those that the person is linked to, else those of the request. What is
 * typed does not decide, or the page would tell who exists.
 */
export async function offeredProviders(
  context: Context,
  opened: Pick<OpenedRequest, 'row'>,
  state: RequestState,
): Promise<readonly KnownProvider[]> {
  // Who is signed in here need not be the one who is invited.
  const person = opened.row.parameters.invitation ? undefined : fixedPerson(state)
  if (!person) return (await policyOfRequest(context, opened, state)).providers
  const linked = (person.user.human?.links ?? []).map(({ idpId }) => idpId)
  return person.signedInUser.policy.providers.filter(({ idpId }) => linked.includes(idpId))
}

export function buttonOf({ idpId, name, stylingType }: KnownProvider): ProviderButton {
  return { idpId, name, stylingType }
}
