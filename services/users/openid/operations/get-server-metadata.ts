import type { GetServerMetadataRequest, GetServerMetadataResponse } from '#gen/roster/users/v1/oauth_service'
import { proofAlgorithms } from '#lib/credentials/dpop'
import { assertionAlgorithms } from '../clients/assertion.ts'
import type { Context } from '../../context.ts'
import { languages } from '../../directory/languages.ts'
import { grantTypes } from '../tokens/grant-types.ts'
import { idTokenAlgorithms } from '../tokens/keys/id-token-keys.ts'
import { issuerOf, tokenEndpointOf } from '../../directory/issuer.ts'
import { plainScopes, providerTokens } from '../scope.ts'
import { prompts } from '../request/find-mistake.ts'
import { acrValues } from '../acr.ts'

// A machine or an application that proves who it is; an application without a proof gets and revokes tokens alone.
const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']
const claims = [
  'sub', 'name', 'preferred_username', 'given_name', 'family_name', 'nickname', 'locale', 'gender', 'updated_at',
  'email', 'email_verified', 'organization', 'roles', 'project_roles', 'organization_roles', 'auth_time', 'nonce', 'acr', 'amr', 'sid',
] // prettier-ignore

export async function getServerMetadata(
  { config }: Context,
  _request: GetServerMetadataRequest,
): Promise<GetServerMetadataResponse> {
  const issuer = issuerOf(config)
  return {
    issuer,
    tokenEndpoint: tokenEndpointOf(config),
    introspectionEndpoint: `${issuer}/oauth/v2/introspect`,
    revocationEndpoint: `${issuer}/oauth/v2/revoke`,
    endSessionEndpoint: `${issuer}/oidc/v1/end_session`,
    backchannelLogoutSupported: true,
    backchannelLogoutSessionSupported: true,
    userinfoEndpoint: `${issuer}/oidc/v1/userinfo`,
    jwksUri: `${issuer}/oauth/v2/keys`,
    scopesSupported: [...plainScopes, 'offline_access', providerTokens],
    authorizationEndpoint: `${issuer}/oauth/v2/authorize`,
    responseTypesSupported: ['code'],
    responseModesSupported: ['query', 'fragment', 'form_post'],
    promptValuesSupported: [...prompts],
    codeChallengeMethodsSupported: ['S256'],
    acrValuesSupported: [...acrValues],
    uiLocalesSupported: [...languages],
    claimsParameterSupported: true,
    requestParameterSupported: false,
    requestUriParameterSupported: false,
    authorizationResponseIssParameterSupported: true,
    grantTypesSupported: Object.values(grantTypes),
    subjectTypesSupported: ['public'],
    idTokenSigningAlgValuesSupported: [...idTokenAlgorithms],
    claimsSupported: claims,
    tokenEndpointAuthMethodsSupported: ['none', ...methods],
    tokenEndpointAuthSigningAlgValuesSupported: assertionAlgorithms,
    introspectionEndpointAuthMethodsSupported: methods,
    introspectionEndpointAuthSigningAlgValuesSupported: assertionAlgorithms,
    revocationEndpointAuthMethodsSupported: ['none', ...methods],
    revocationEndpointAuthSigningAlgValuesSupported: assertionAlgorithms,
    dpopSigningAlgValuesSupported: proofAlgorithms,
  }
}
