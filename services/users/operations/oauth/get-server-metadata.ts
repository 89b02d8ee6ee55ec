import type { GetServerMetadataRequest, GetServerMetadataResponse } from '#gen/roster/users/v1/oauth_service'
import { proofAlgorithms } from '#lib/dpop'
import { assertionAlgorithms } from '../../oauth/assertion.ts'
import type { Context } from '../../context.ts'
import { grantTypes } from '../../oauth/grant-types.ts'
import { issuerOf, tokenEndpointOf } from '../../oauth/issuer.ts'
import { plainScopes } from '../../oauth/scope.ts'

const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']
const claims = [
  'sub', 'name', 'preferred_username', 'given_name', 'family_name', 'nickname', 'locale', 'email', 'email_verified',
  'organization', 'roles', 'project_roles', 'organization_roles',
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
    userinfoEndpoint: `${issuer}/oidc/v1/userinfo`,
    jwksUri: `${issuer}/oauth/v2/keys`,
    scopesSupported: plainScopes,
    responseTypesSupported: [],
    grantTypesSupported: Object.values(grantTypes),
    subjectTypesSupported: ['public'],
    idTokenSigningAlgValuesSupported: [config.ACCESS_TOKEN_ALGORITHM],
    claimsSupported: claims,
    tokenEndpointAuthMethodsSupported: methods,
    tokenEndpointAuthSigningAlgValuesSupported: assertionAlgorithms,
    introspectionEndpointAuthMethodsSupported: methods,
    introspectionEndpointAuthSigningAlgValuesSupported: assertionAlgorithms,
    revocationEndpointAuthMethodsSupported: methods,
    revocationEndpointAuthSigningAlgValuesSupported: assertionAlgorithms,
    dpopSigningAlgValuesSupported: proofAlgorithms,
  }
}
