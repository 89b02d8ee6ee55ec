import type { GetConsoleSessionRequest, GetConsoleSessionResponse } from '#gen/roster/users/v1/internal_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { findConsolePerson, keepCookie } from '../openid/console/console-cookie.ts'
import { toldName, wantedBy } from '../openid/tokens/claims.ts'
import { freshFor } from '../sessions/fresh-for.ts'
import { checkedAt, countingFactors, lastProof, ownFactors } from '../sessions/login-policy/login-policy.ts'

export async function getConsoleSession(
  context: Context,
  { cookieHash, inUse }: GetConsoleSessionRequest,
  call: Call,
): Promise<GetConsoleSessionResponse> {
  if (inUse) await keepCookie(context, cookieHash)
  const { token, authorization, reads, allowed, signedInUser } = await findConsolePerson(context, cookieHash, call)
  const { userId, organizationId, user, expiresAt } = token
  const { sessionEnd } = allowed
  const { state: session, readAt } = reads.session
  // Those of the session: another request, or the page of the account, may have asked for one meanwhile.
  const { policy } = signedInUser
  const last = session && lastProof(countingFactors(policy, ownFactors(user.human, policy), checkedAt(session)))
  const freshUntil = new Date((last?.getTime() || 0) + freshFor * 1000)
  return {
    name: authorization.id,
    userId,
    displayName: user.human?.profile.displayName ?? '',
    loginName: toldName(user, wantedBy(['profile', 'email'])) ?? '',
    organizationId,
    fresh: freshUntil >= readAt,
    freshUntil,
    end: sessionEnd && sessionEnd < expiresAt! ? sessionEnd : expiresAt!,
  }
}
