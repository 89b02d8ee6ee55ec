import type { JsonObject } from '@bufbuild/protobuf'
import type { Operation } from './contract.ts'
import { unique } from './people.ts'

const metadata = (entity: string) =>
  `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entity}"><IDPSSODescriptor/></EntityDescriptor>`

/** The description of a SAML provider, as JSON holds it. */
export const metadataXml = (entity = 'https://i.example') => Buffer.from(metadata(entity)).toString('base64')

interface Example {
  add: Operation
  update: Operation
  /** The member of the answer with the settings. */
  config: string
  type: string
  /** The settings of an example. */
  settings: JsonObject
  /** Each of them, with another value. */
  changes: JsonObject
  /** The field with the secret. */
  secret?: string
}

const endpoint = (name: string) => `https://i.example/${name}`

/** An example for each protocol. */
export const examples: Record<'oidc' | 'jwt' | 'oauth' | 'saml' | 'ldap', Example> = {
  oidc: {
    add: 'AddOIDCIDP',
    update: 'UpdateIDPOIDCConfig',
    config: 'oidc',
    type: 'IDP_TYPE_OIDC',
    settings: {
      clientId: 'client',
      issuer: 'https://i.example',
      scopes: ['openid', 'email'],
      preset: 'IDP_PRESET_MICROSOFT',
      tenants: { ids: ['11111111-2222-3333-4444-555555555555'] },
    },
    changes: {
      clientId: 'other',
      issuer: 'https://j.example',
      scopes: ['openid'],
      tenants: { ids: ['99999999-2222-3333-4444-555555555555'] },
    },
    secret: 'clientSecret',
  },
  jwt: {
    add: 'AddJWTIDP',
    update: 'UpdateIDPJWTConfig',
    config: 'jwt',
    type: 'IDP_TYPE_JWT',
    settings: {
      jwtEndpoint: endpoint('jwt'),
      issuer: 'i',
      keysEndpoint: endpoint('keys'),
      headerName: 'x-token',
      audience: 'roster',
    },
    changes: {
      jwtEndpoint: endpoint('a'),
      issuer: 'j',
      keysEndpoint: endpoint('b'),
      headerName: 'x-other',
      audience: 'other',
    },
  },
  oauth: {
    add: 'AddOAuthIDP',
    update: 'UpdateIDPOAuthConfig',
    config: 'oauth',
    type: 'IDP_TYPE_OAUTH',
    settings: {
      clientId: 'client',
      authorizationEndpoint: endpoint('authorize'),
      tokenEndpoint: endpoint('token'),
      userEndpoint: endpoint('user'),
      scopes: ['profile'],
      idAttribute: 'id',
    },
    changes: {
      clientId: 'other',
      authorizationEndpoint: endpoint('a'),
      tokenEndpoint: endpoint('b'),
      userEndpoint: endpoint('c'),
      scopes: ['email', 'profile'],
      idAttribute: 'sub',
    },
    secret: 'clientSecret',
  },
  saml: {
    add: 'AddSAMLIDP',
    update: 'UpdateIDPSAMLConfig',
    config: 'saml',
    type: 'IDP_TYPE_SAML',
    settings: {
      metadataXml: metadataXml(),
      binding: 'SAML_BINDING_POST',
      withSignedRequest: true,
      nameIdFormat: 'SAML_NAME_ID_FORMAT_PERSISTENT',
    },
    changes: {
      metadataXml: metadataXml('https://j.example'),
      binding: 'SAML_BINDING_REDIRECT',
      nameIdFormat: 'SAML_NAME_ID_FORMAT_EMAIL_ADDRESS',
    },
  },
  ldap: {
    add: 'AddLDAPIDP',
    update: 'UpdateIDPLDAPConfig',
    config: 'ldap',
    type: 'IDP_TYPE_LDAP',
    settings: {
      servers: ['ldaps://a.example:636', 'ldap://[2606:4700::1111]'],
      startTls: true,
      baseDn: 'dc=example',
      bindDn: 'cn=roster,dc=example',
      userBase: 'ou=people,dc=example',
      userObjectClasses: ['inetOrgPerson'],
      userFilters: ['uid', 'mail'],
      timeout: '2.500s',
      attributes: { idAttribute: 'entryUUID', emailAttribute: 'mail;lang-de', phoneAttribute: '2.5.4.20' },
    },
    changes: {
      servers: ['ldap://b.example'],
      baseDn: 'dc=other',
      bindDn: 'cn=other',
      userBase: 'ou=other',
      userObjectClasses: ['person'],
      userFilters: ['cn'],
      timeout: '60s',
      attributes: { idAttribute: 'uid' },
    },
    secret: 'bindPassword',
  },
}

export const protocols = Object.values(examples)

/** A request that adds the example of a protocol. */
export function addition({ settings, secret }: Example, name = unique('Provider')): JsonObject {
  return { name, ...settings, ...(secret && { [secret]: unique('idp-secret') }) }
}

/** The name of an operation for the providers of an organization, by its name for those of the instance. */
export function forOrganization(operation: Operation): Operation {
  return operation.replace(
    /^(Add|Update|Deactivate|Reactivate|Remove|Replace|Get|Search|Set|Test|Try)/,
    '$1Organization',
  ) as Operation
}

/** The operations on one provider, each with a request that lacks only its id. */
export function ofOneProvider(name: string): [Operation, JsonObject][] {
  return [
    ...protocols.map(({ update, changes }): [Operation, JsonObject] => [update, changes]),
    ['UpdateIDP', { name }],
    ['DeactivateIDP', {}],
    ['ReactivateIDP', {}],
    ['RemoveIDP', {}],
    ['GetIDP', {}],
    ['TestIdentityProvider', {}],
    ['TryIdentityProvider', {}],
    ['SetIDPClaims', { isAutoUpdate: true }],
    ['SetIDPSessions', { logoutAtProvider: false }],
  ]
}
