import type { RetrieveProviderTokensRequest, RetrieveProviderTokensResponse } from '#gen/roster/users/v1/oauth_service'
import { RosterError } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { findKeptTokens } from '../../sessions/factors/provider/kept-tokens.ts'
import { findPerson } from '../authorization/later-facts.ts'
import { givesTokensTo } from '../judge/provider-tokens.ts'
import { providerTokens, readScope } from '../scope.ts'

export async function retrieveProviderTokens(
  context: Context,
  _request: RetrieveProviderTokensRequest,
  call: Call,
): Promise<RetrieveProviderTokensResponse> {
  const { authorizationId, userId, scope = '' } = call.caller
  // An application hands on tokens with fewer scopes than the person gave it.
  if (authorizationId === undefined || !readScope(scope).names.has(providerTokens)) throw permissionDenied()
  const person = await findPerson(context, 'userinfo', authorizationId, call)
  if (!person || person.allowed.userId !== userId)
    throw new RosterError('UNAUTHENTICATED', 'TOKEN_INVALID', 'The token is not valid.')
  const { allowed, signedInUser } = person
  if (!allowed.scopes.includes(providerTokens)) throw permissionDenied()
  const { sessionId } = signedInUser
  const found = await findKeptTokens(context, { sessionId, userId })
  // One that the person may not sign in by any more gives nothing, though the session goes on by another factor.
  const provider = signedInUser.policy.providers.find(({ idpId }) => idpId === found?.idpId)
  if (!found || !provider) throw noTokens()
  // The tokens are good at what the organization has there, and its person alone does not hand them to others.
  if (!givesTokensTo(provider, allowed.project.organizationId)) throw permissionDenied()
  const { accessToken, expiresAt, idToken } = found.tokens
  return {
    idpId: found.idpId,
    accessToken,
    tokenType: 'Bearer',
    expiresAt: expiresAt === undefined ? undefined : Math.floor(expiresAt / 1000),
    scope: found.tokens.scope || undefined,
    idToken: idToken || undefined,
  }
}

function noTokens(): RosterError {
  const message = 'There are no tokens of an identity provider for this session.'
  return new RosterError('NOT_FOUND', 'PROVIDER_TOKENS_NOT_FOUND', message)
}
