import type { ProviderTokens } from '#gen/roster/idp/v1/internal_service'
import type { GivenTokens } from '../../protocols/protocol.ts'

/** Characters of each. */
const longest = 16 * 1024

/** What is kept of the tokens of a person. Undefined where the access token is too long for that. */
export function keptTokens(
  { accessToken, expiresIn, scope = '', idToken = '' }: GivenTokens,
  { now, receiver }: { now: number; receiver: string },
): ProviderTokens | undefined {
  if (accessToken.length > longest) return undefined
  const isTime = expiresIn !== undefined && expiresIn > 0 && expiresIn < 1e9
  return {
    accessToken,
    expiresAt: isTime ? now + Math.floor(expiresIn) * 1000 : undefined,
    scope: scope.length > longest ? '' : scope,
    idToken: idToken.length > longest ? '' : idToken,
    receiver,
  }
}
