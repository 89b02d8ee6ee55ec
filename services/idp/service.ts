import { IdentityProviderServiceDefinition } from '#gen/roster/idp/v1/identity_provider_service'
import { InternalServiceDefinition } from '#gen/roster/idp/v1/internal_service'
import { OrganizationIdentityProviderServiceDefinition } from '#gen/roster/idp/v1/organization_identity_provider_service'
import { OrganizationProviderServiceDefinition } from '#gen/roster/idp/v1/organization_provider_service'
import { ProviderServiceDefinition } from '#gen/roster/idp/v1/provider_service'
import { InternalServiceDefinition as GrantsInternal } from '#gen/roster/grants/v1/internal_service'
import { untilReachable } from '#lib/database/database'
import { reEncrypt } from '#lib/encryption/re-encrypt'
import type { Parts, Service } from '#lib/process'
import { createClient } from '#lib/rpc/call'
import { ofInstance } from '#lib/rpc/of-instance'
import { served } from '#lib/rpc/serve'
import { startStoringService, type StoringService } from '#lib/storing-service'
import type { Config } from './config.ts'
import { encryptedSecrets } from './client-secrets.ts'
import type { Context } from './context.ts'
import { addIdentityProvider } from './operations/provider/add-identity-provider.ts'
import { addJwtIdp } from './operations/add-jwt-idp.ts'
import { addLdapIdp } from './operations/add-ldap-idp.ts'
import { addOauthIdp } from './operations/add-oauth-idp.ts'
import { addOidcIdp } from './operations/add-oidc-idp.ts'
import { addSamlIdp } from './operations/add-saml-idp.ts'
import { deactivateIdp } from './operations/deactivate-idp.ts'
import { getIdentityProvider } from './operations/provider/get-identity-provider.ts'
import { getIdp } from './operations/get-idp.ts'
import { reactivateIdp } from './operations/reactivate-idp.ts'
import { removeIdp } from './operations/remove-idp.ts'
import { replaceIdentityProvider } from './operations/provider/replace-identity-provider.ts'
import { searchIdentityProviders } from './operations/provider/search-identity-providers.ts'
import { searchIdps } from './operations/search-idps.ts'
import { setOrganizationIdpRoles } from './operations/set-organization-idp-roles.ts'
import { setIdpClaims } from './operations/set-idp-claims.ts'
import { lookupProvider } from './operations/internal/lookup-provider.ts'
import { beginProviderSignIn, finishProviderSignIn } from './operations/internal/provider-sign-in.ts'
import { finishProviderTrial } from './operations/internal/finish-provider-trial.ts'
import { tryIdentityProvider } from './operations/try-identity-provider.ts'
import { endSessionAtProvider } from './operations/internal/end-session-at-provider.ts'
import { setIdpSessions } from './operations/set-idp-sessions.ts'
import { verifyProviderLogout } from './operations/internal/verify-provider-logout.ts'
import { testIdentityProvider } from './operations/test-identity-provider.ts'
import { updateIdp } from './operations/update-idp.ts'
import { updateIdpJwtConfig } from './operations/update-idp-jwt-config.ts'
import { updateIdpLdapConfig } from './operations/update-idp-ldap-config.ts'
import { updateIdpOauthConfig } from './operations/update-idp-oauth-config.ts'
import { updateIdpOidcConfig } from './operations/update-idp-oidc-config.ts'
import { updateIdpSamlConfig } from './operations/update-idp-saml-config.ts'
import { model } from './model.ts'
import { startRemovingOrganizations } from './organizations.ts'
import { internalCalls } from '../internal-calls.ts'

const idp: StoringService<Config, Context> = {
  name: 'idp',
  vocabulary: model,
  async open({ config, nats, sql, store, log }) {
    const keys = config.ROSTER_ENCRYPTION_KEY
    await untilReachable(nats.waits, () => reEncrypt(sql, keys, log, encryptedSecrets))
    const grants = createClient(nats, GrantsInternal, internalCalls.idp.grants)
    return {
      context: { store, keys, sql, destinations: config.IDP_ALLOW_PRIVATE, publicUrl: config.PUBLIC_URL, grants },
      background: [startRemovingOrganizations({ sql, store, nats, log }, grants)],
    }
  },
  services: (listEvents, listCheckpoints) => [
    served<typeof IdentityProviderServiceDefinition, Context>(IdentityProviderServiceDefinition, {
      updateIDP: ofInstance(updateIdp),
      addOIDCIDP: ofInstance(addOidcIdp),
      addJWTIDP: ofInstance(addJwtIdp),
      addOAuthIDP: ofInstance(addOauthIdp),
      addSAMLIDP: ofInstance(addSamlIdp),
      addLDAPIDP: ofInstance(addLdapIdp),
      updateIDPOIDCConfig: ofInstance(updateIdpOidcConfig),
      updateIDPJWTConfig: ofInstance(updateIdpJwtConfig),
      updateIDPOAuthConfig: ofInstance(updateIdpOauthConfig),
      updateIDPSAMLConfig: ofInstance(updateIdpSamlConfig),
      updateIDPLDAPConfig: ofInstance(updateIdpLdapConfig),
      deactivateIDP: ofInstance(deactivateIdp),
      reactivateIDP: ofInstance(reactivateIdp),
      removeIDP: ofInstance(removeIdp),
      getIDP: ofInstance(getIdp),
      searchIDPs: ofInstance(searchIdps),
      testIdentityProvider: ofInstance(testIdentityProvider),
      tryIdentityProvider: ofInstance(tryIdentityProvider),
      setIDPClaims: ofInstance(setIdpClaims),
      setIDPSessions: ofInstance(setIdpSessions),
    }),
    served<typeof OrganizationIdentityProviderServiceDefinition, Context>(
      OrganizationIdentityProviderServiceDefinition,
      {
        updateOrganizationIDP: updateIdp,
        addOrganizationOIDCIDP: addOidcIdp,
        addOrganizationJWTIDP: addJwtIdp,
        addOrganizationOAuthIDP: addOauthIdp,
        addOrganizationSAMLIDP: addSamlIdp,
        addOrganizationLDAPIDP: addLdapIdp,
        updateOrganizationIDPOIDCConfig: updateIdpOidcConfig,
        updateOrganizationIDPJWTConfig: updateIdpJwtConfig,
        updateOrganizationIDPOAuthConfig: updateIdpOauthConfig,
        updateOrganizationIDPSAMLConfig: updateIdpSamlConfig,
        updateOrganizationIDPLDAPConfig: updateIdpLdapConfig,
        deactivateOrganizationIDP: deactivateIdp,
        reactivateOrganizationIDP: reactivateIdp,
        removeOrganizationIDP: removeIdp,
        getOrganizationIDP: getIdp,
        searchOrganizationIDPs: searchIdps,
        testOrganizationIdentityProvider: testIdentityProvider,
        tryOrganizationIdentityProvider: tryIdentityProvider,
        setOrganizationIDPClaims: setIdpClaims,
        setOrganizationIDPSessions: setIdpSessions,
        setOrganizationIDPRoles: setOrganizationIdpRoles,
      },
    ),
    served<typeof ProviderServiceDefinition, Context>(ProviderServiceDefinition, {
      addIdentityProvider: ofInstance(addIdentityProvider),
      replaceIdentityProvider: ofInstance(replaceIdentityProvider),
      getIdentityProvider: ofInstance(getIdentityProvider),
      searchIdentityProviders: ofInstance(searchIdentityProviders),
    }),
    served<typeof OrganizationProviderServiceDefinition, Context>(OrganizationProviderServiceDefinition, {
      addOrganizationIdentityProvider: addIdentityProvider,
      replaceOrganizationIdentityProvider: replaceIdentityProvider,
      getOrganizationIdentityProvider: getIdentityProvider,
      searchOrganizationIdentityProviders: searchIdentityProviders,
    }),
    served<typeof InternalServiceDefinition, Context>(InternalServiceDefinition, {
      listEvents,
      listCheckpoints,
      lookupProvider,
      beginProviderSignIn,
      finishProviderSignIn,
      finishProviderTrial,
      verifyProviderLogout,
      endSessionAtProvider,
    }),
  ],
}

/** Starts the idp service: brings its schema and its encrypted secrets up to date, and answers. */
export function startIdp(parts: Parts<Config>): Promise<Service> {
  return startStoringService(idp, new URL('./migrations/', import.meta.url), parts)
}
