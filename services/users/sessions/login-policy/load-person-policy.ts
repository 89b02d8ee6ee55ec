import type { ServiceCall } from '#lib/rpc/call'
import type { Context } from '../../context.ts'
import { loadLoginPolicy } from './load-login-policy.ts'
import type { LoginPolicy, PersonPolicy } from './login-policy.ts'

/**
 * What is demanded of a person, as it is now. Grants is asked for the person's roles where a policy demands more of those
 * who have one, and only there. UNAVAILABLE; errors of grants.
 */
export async function loadPersonPolicy(
  context: Pick<Context, 'config' | 'store' | 'grants'>,
  { userId, organizationId }: { userId: string; organizationId: string },
  call: ServiceCall,
): Promise<PersonPolicy> {
  return personPolicy(context, await loadLoginPolicy(context, organizationId), userId, call)
}

/** The same, of a policy that was read already. Errors of grants. */
export async function personPolicy(
  { grants }: Pick<Context, 'grants'>,
  { forceMfaOfAdministrators, ...policy }: LoginPolicy,
  userId: string,
  call: ServiceCall,
): Promise<PersonPolicy> {
  if (policy.forceMfa || !forceMfaOfAdministrators) return policy
  // In whatever organization, open or not: its powers there are worth more than one factor, too.
  const anywhere = { userId, organizationId: '', withInactive: false, onlyIn: [], mostOthers: 0 }
  const { hasRole } = await grants.listMemberships(anywhere, call)
  return { ...policy, forceMfa: hasRole }
}
