import type { ServiceCall } from '#lib/rpc/call'
import { isAdministrator, membershipsIn } from '../../../roles-there.ts'
import type { Context } from '../../context.ts'
import type { Human } from '../../directory/events/human.ts'
import type { User } from '../../directory/events/user.ts'
import { mayStillActOn } from '../../directory/may-act-on.ts'
import { isOfInstance, withoutSecondFactors } from '../factors/provider/known-providers.ts'
import { loadLoginPolicy } from './load-login-policy.ts'
import type { LoginPolicy, PersonPolicy } from './login-policy.ts'

/**
 * What is demanded of a person, as it is now. Grants is asked for the person's roles where a policy demands more of those
 * who have one, or lists providers, or the person has what counts for nobody with a role, and only there. `state`: where it is
 * known already. UNAVAILABLE; errors of grants.
 */
export async function loadPersonPolicy(
  context: Pick<Context, 'config' | 'store' | 'sql' | 'grants'>,
  { userId, organizationId, state }: PersonOfPolicy,
  call: ServiceCall,
): Promise<PersonPolicy> {
  const policy = await loadLoginPolicy(context, organizationId)
  return personPolicy(context, policy, { userId, organizationId, state }, call)
}

interface PersonOfPolicy {
  userId: string
  organizationId: string
  state?: User | undefined
}

/** The same, of a policy that was read already. UNAVAILABLE; errors of grants. */
export async function personPolicy(
  { grants, store }: Pick<Context, 'grants' | 'store'>,
  { forceMfaOfAdministrators, ...policy }: LoginPolicy,
  { userId, organizationId, state }: PersonOfPolicy,
  call: ServiceCall,
): Promise<PersonPolicy> {
  const isByProvider = policy.factors.includes('provider')
  const asksForRole = !policy.forceMfa && forceMfaOfAdministrators
  const isAskedFor = asksForRole || isByProvider || policy.providers.length > 0
  // What was set up by a link outlives the provider, and a session by it outlives that.
  const read = async () => (state ?? (await store.load<User>('user', userId))?.state)?.human
  const human = isAskedFor ? undefined : await read()
  if (!isAskedFor && !human?.wasSetUpByLink && !human?.setters) return policy
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
    outgrown: hasRoleHere ? await outgrownBy({ grants, store }, userId, human ?? (await read()), call) : [],
    // Who may have to mend the provider is not locked out by it.
    factors: isByProvider && hasRoleHere ? ['password'] : policy.factors,
  }
}

async function outgrownBy(
  context: Pick<Context, 'grants' | 'store'>,
  userId: string,
  { setters = [] }: Partial<Human> = {},
  call: ServiceCall,
): Promise<string[]> {
  const serve = await Promise.all(setters.map((one) => mayStillActOn(context, [one], userId, call)))
  return setters.filter((_, at) => !serve[at])
}
