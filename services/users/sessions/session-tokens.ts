import type { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import type { ServiceCall } from '#lib/rpc/call'
import type { Context } from '../context.ts'
import type { User } from '../directory/events/user.ts'
import type { FoundToken } from '../directory/tokens/token.ts'
import type { Session } from './events/session.ts'
import { provable } from './factors/asked-first.ts'
import { factorKinds } from './factors/kinds.ts'
import { standsFor } from './browsers/trusted-browser.ts'
import { loadPersonPolicy } from './login-policy/load-person-policy.ts'
import { checkedAt, missingFactors, ownFactors, type PersonPolicy } from './login-policy/login-policy.ts'

/**
 * Whether the token of a session opens anything: only where nothing is missing that the login policy and the user's own
 * second factors demand now. Any other token stands on its user alone, or is asked about by `judge`. UNAVAILABLE
 * STORE_UNAVAILABLE; errors of grants.
 */
export async function isComplete(
  context: Pick<Context, 'config' | 'store' | 'sql' | 'grants'>,
  { sessionId, authorizationId, userId, organizationId, user }: FoundToken,
  call: ServiceCall,
): Promise<boolean> {
  if (sessionId === '' || authorizationId !== undefined) return true
  const [policy, session] = await Promise.all([
    loadPersonPolicy(context, { userId, organizationId, state: user }, call),
    context.store.load<Session>('session', sessionId),
  ])
  return session !== undefined && missingMethods(policy, user, session.state, session.readAt).length === 0
}

/**
 * What is missing of a session, of which one is asked for next: of those that serve, what the user can prove. A password
 * that was checked is missing where another one must be chosen.
 */
export function missingMethods(
  policy: PersonPolicy,
  user: User,
  session: Pick<Session, 'factors' | 'trustId'>,
  now: Date,
): AuthenticationMethodType[] {
  const standsIn = standsFor(user.human, session.trustId, policy)
  const [missing = []] = missingFactors(policy, ownFactors(user.human, policy), checkedAt(session), { now, standsIn })
  if (missing === 'new-password') return [factorKinds.password.method]
  const ready = provable(missing, user, policy)
  return (ready.length > 0 ? ready : missing).map((kind) => factorKinds[kind].method)
}
