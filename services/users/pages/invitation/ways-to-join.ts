import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { Invitation } from '../../directory/events/invitation.ts'
import type { FactorKind } from '../../sessions/events/session.ts'
import type { KnownProvider } from '../../sessions/factors/provider/known-providers.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import { personPolicy } from '../../sessions/login-policy/load-person-policy.ts'
import type { LoginPolicy } from '../../sessions/login-policy/login-policy.ts'

type Contextual = Pick<Context, 'config' | 'store' | 'sql' | 'grants'>

/** By what an invited person without an account, or without a password, is to sign in from now on. */
export interface WaysToJoin {
  /** `provider`: by these alone, and by a passkey where the policy allows it. */
  factors: readonly FactorKind[]
  providers: readonly KnownProvider[]
  /** Others of the organization sign in by providers alone; this person gets a role of Roster, and with it a password. */
  isException: boolean
}

/** Of a new person, by the policy of who invites and the roles of the invitation. */
export async function waysToJoin(
  context: Pick<Context, 'config' | 'store' | 'sql'>,
  { organizationId, state }: { organizationId: string; state: Pick<Invitation, 'organizationRoles'> },
): Promise<WaysToJoin> {
  const policy = await loadLoginPolicy(context, organizationId)
  return waysOf(policy, state.organizationRoles.length > 0 ? ['password'] : policy.factors, policy.providers)
}

/** Of a user who is there already. Errors of grants. */
export async function waysOfUser(
  context: Contextual,
  { userId, organizationId }: { userId: string; organizationId: string },
  call: Pick<Call, 'requestId' | 'deadline'>,
): Promise<WaysToJoin> {
  const policy = await loadLoginPolicy(context, organizationId)
  if (!policy.factors.includes('provider')) return waysOf(policy, policy.factors, policy.providers)
  const { factors, providers } = await personPolicy(context, policy, { userId, organizationId }, call)
  return waysOf(policy, factors, providers)
}

/** What a mail calls those that the person signs in by. */
export function namesOf({ factors, providers }: WaysToJoin): string[] {
  return factors.includes('provider') ? providers.map(({ name }) => name) : []
}

function waysOf(
  policy: Pick<LoginPolicy, 'factors'>,
  own: readonly FactorKind[],
  providers: readonly KnownProvider[],
): WaysToJoin {
  const isByProvider = policy.factors.includes('provider')
  return {
    factors: isByProvider ? own : policy.factors,
    providers: isByProvider ? providers : [],
    isException: isByProvider && !own.includes('provider'),
  }
}
