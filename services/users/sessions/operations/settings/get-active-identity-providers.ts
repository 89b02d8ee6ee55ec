import type { LookupProviderResponse } from '#gen/roster/idp/v1/internal_service'
import { IDPKind } from '#gen/roster/idp/v1/provider_service'
import {
  type ActiveIdentityProvider,
  type GetActiveIdentityProvidersRequest,
  type GetActiveIdentityProvidersResponse,
  IdentityProviderType as Type,
} from '#gen/roster/users/v1/settings_service'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { loadLoginPolicy } from '../../login-policy/load-login-policy.ts'
import { getBrandingSettings } from './get-branding-settings.ts'

export const getActiveIdentityProviders = {
  permit: getBrandingSettings.permit,

  /** The buttons of a page, with what idp says of each one now. Errors of idp. */
  async handle(
    context: Context,
    request: GetActiveIdentityProvidersRequest,
    call: Call,
  ): Promise<GetActiveIdentityProvidersResponse> {
    const organizationId = request.instance ? instance.id : call.organizationId
    const { providers } = await loadLoginPolicy(context, organizationId)
    const found = await Promise.all(
      providers.map(async ({ idpId }) => ({ idpId, ...(await context.idp.lookupProvider({ idpId }, call)) })),
    )
    return { identityProviders: found.filter((one) => one.signsIn && isWanted(one, request)).map(show) }
  },
}

function isWanted(
  { options }: LookupProviderResponse,
  { creationAllowed, linkingAllowed, autoCreation }: GetActiveIdentityProvidersRequest,
): boolean {
  const filters: [is: boolean | undefined, wanted: boolean | undefined][] = [
    [options?.isCreationAllowed, creationAllowed],
    [options?.isLinkingAllowed, linkingAllowed],
    [options?.isAutoCreation, autoCreation],
  ]
  return filters.every(([is, wanted]) => wanted === undefined || is === wanted)
}

function show({ idpId, name, kind, options }: LookupProviderResponse & { idpId: string }): ActiveIdentityProvider {
  return { idpId, name, type: types[kind] ?? Type.IDENTITY_PROVIDER_TYPE_UNSPECIFIED, options }
}

// The next release of idp may know more.
const types: Partial<Record<IDPKind, Type>> = {
  [IDPKind.IDP_KIND_OIDC]: Type.IDENTITY_PROVIDER_TYPE_OIDC,
  [IDPKind.IDP_KIND_JWT]: Type.IDENTITY_PROVIDER_TYPE_JWT,
  [IDPKind.IDP_KIND_LDAP]: Type.IDENTITY_PROVIDER_TYPE_LDAP,
  [IDPKind.IDP_KIND_OAUTH]: Type.IDENTITY_PROVIDER_TYPE_OAUTH,
  [IDPKind.IDP_KIND_AZURE_AD]: Type.IDENTITY_PROVIDER_TYPE_AZURE_AD,
  [IDPKind.IDP_KIND_GITHUB]: Type.IDENTITY_PROVIDER_TYPE_GITHUB,
  [IDPKind.IDP_KIND_GITHUB_ES]: Type.IDENTITY_PROVIDER_TYPE_GITHUB_ES,
  [IDPKind.IDP_KIND_GITLAB]: Type.IDENTITY_PROVIDER_TYPE_GITLAB,
  [IDPKind.IDP_KIND_GITLAB_SELF_HOSTED]: Type.IDENTITY_PROVIDER_TYPE_GITLAB_SELF_HOSTED,
  [IDPKind.IDP_KIND_GOOGLE]: Type.IDENTITY_PROVIDER_TYPE_GOOGLE,
  [IDPKind.IDP_KIND_APPLE]: Type.IDENTITY_PROVIDER_TYPE_APPLE,
  [IDPKind.IDP_KIND_SAML]: Type.IDENTITY_PROVIDER_TYPE_SAML,
}
