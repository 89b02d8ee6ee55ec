import type { ServiceCall } from '#lib/rpc/call'
import { isAdministrator, membershipsIn } from '../../../roles-there.ts'
import type { Context } from '../../context.ts'
import { isOfInstance, withoutSecondFactors } from '../factors/provider/known-providers.ts'
import { loadLoginPolicy } from './load-login-policy.ts'
import type { LoginPolicy, PersonPolicy } from './login-policy.ts'

/**
 * What is demanded of a person, as it is now. Grants is asked for the person's roles where a policy demands more of those
 * who have one, or lists providers, and only there. UNAVAILABLE; errors of grants.
 */
export async function loadPersonPolicy(
  context: Pick<Context, 'config' | 'store' | 'sql' | 'grants'>,
  { userId, organizationId }: { userId: string; organizationId: string },
  call: ServiceCall,
): Promise<PersonPolicy> {
  return personPolicy(context, await loadLoginPolicy(context, organizationId), { userId, organizationId }, call)
}

/** The same, of a policy that was read already. Errors of grants. */
export async function personPolicy(
  { grants }: Pick<Context, 'grants'>,
  { forceMfaOfAdministrators, ...policy }: LoginPolicy,
  { userId, organizationId }: { userId: string; organizationId: string },
  call: ServiceCall,
): Promise<PersonPolicy> {
  const isByProvider = policy.factors.includes('provider')
  const asksForRole = !policy.forceMfa && forceMfaOfAdministrators
  if (!asksForRole && !isByProvider && policy.providers.length === 0) return policy
  const held = await grants.listMemberships(membershipsIn(userId, organizationId), call)
  // In whatever organization, open or not: its powers there are worth more than one factor, too.
  const { hasRole, instanceRoles } = held
  // Another organization could give people a role to shut them out, and to open their passwords again.
  const hasRoleHere = isAdministrator(held)
  // Whoever runs the provider of an organization could be each of its people, so it proves nobody with a role on the instance,
  // and stands in for no second factor that is asked for because of a role.
  const providers = instanceRoles.length > 0 ? policy.providers.filter(isOfInstance) : policy.providers
  return {
    ...policy,
    forceMfa: policy.forceMfa || (asksForRole && hasRole),
    providers: asksForRole && hasRole ? withoutSecondFactors(providers) : providers,
    byHandAlone: hasRoleHere,
    // Who may have to mend the provider is not locked out by it.
    factors: isByProvider && hasRoleHere ? ['password'] : policy.factors,
  }
}
