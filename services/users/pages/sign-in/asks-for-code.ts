import type { Context } from '../../context.ts'
import type { Unanswerable } from '../../openid/request/read-parameters.ts'
import { isRosterItself, organizationOfRequest } from '../../openid/request/request-organization.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import type { LoginPolicy } from '../../sessions/login-policy/login-policy.ts'
import type { OpenedRequest } from './opened-request.ts'
import { fixedPerson, type RequestState } from './request-state.ts'

/**
 * The policy by which a page asks whoever comes: that of the request, whose people nobody has named yet. At Roster itself a
 * password can be entered where providers alone sign in: administrators keep theirs.
 */
export async function policyOfRequest(
  context: Context,
  { row: { parameters } }: Pick<OpenedRequest, 'row'>,
  { requested }: Pick<RequestState, 'requested'>,
): Promise<LoginPolicy> {
  const policy = await loadLoginPolicy(context, organizationFor(parameters, requested))
  const keepsPassword = isRosterItself(requested.application) && policy.factors.includes('provider')
  return keepsPassword ? { ...policy, factors: ['password'] } : policy
}

/** The names of the providers by which alone people of the organization sign in that the request is for. None: by a password, too. */
export async function providersAlone(
  context: Context,
  { row: { parameters } }: Pick<OpenedRequest, 'row'>,
  { requested }: Pick<RequestState, 'requested'>,
): Promise<string[]> {
  const { factors, providers } = await loadLoginPolicy(context, organizationFor(parameters, requested))
  return factors.includes('provider') ? providers.map(({ name }) => name) : []
}

function organizationFor(
  { invitation, scope }: OpenedRequest['row']['parameters'],
  requested: RequestState['requested'],
): string {
  return invitation?.organizationId ?? organizationOfRequest(scope, requested)
}

/**
 * Whether the page asks for a mailed code in place of a password: of a known person by their policy, else by that of the
 * request. What is typed must not decide, or the page would tell who exists.
 */
export async function asksForCode(
  context: Context,
  opened: Pick<OpenedRequest, 'row'>,
  state: RequestState | Unanswerable,
): Promise<boolean> {
  if ('notice' in state) return false
  const { factors } = fixedPerson(state)?.signedInUser.policy ?? (await policyOfRequest(context, opened, state))
  return factors.includes('mailed-code')
}
