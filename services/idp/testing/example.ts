import type { Configurations, IdpSettings } from '../vocabulary.ts'

const url = 'https://i.example'

/** The settings that every provider has, and those of each protocol. */
export const example: { settings: IdpSettings } & Configurations = {
  settings: { name: 'ACME', stylingType: 1, autoRegister: true },
  oidc: { clientId: 'c', issuer: url, scopes: ['openid'] },
  jwt: { jwtEndpoint: url, issuer: 'i', keysEndpoint: url, headerName: 'x-token' },
  oauth: {
    clientId: 'c',
    authorizationEndpoint: url,
    tokenEndpoint: url,
    userEndpoint: url,
    scopes: ['openid'],
    idAttribute: 'id',
  },
  saml: { metadataXml: '<a/>', metadataUrl: url, binding: 1, withSignedRequest: true, nameIdFormat: 2 },
  ldap: {
    servers: ['ldaps://i.example'],
    startTls: true,
    baseDn: 'dc=example',
    bindDn: 'cn=roster',
    userBase: 'ou=people',
    userObjectClasses: ['person'],
    userFilters: ['uid'],
    timeoutMilliseconds: 1500,
    attributes: {
      idAttribute: 'uid',
      firstNameAttribute: 'givenName',
      lastNameAttribute: 'sn',
      displayNameAttribute: 'cn',
      nickNameAttribute: 'nick',
      preferredUsernameAttribute: 'uid',
      emailAttribute: 'mail',
      emailVerifiedAttribute: 'mailVerified',
      phoneAttribute: 'telephoneNumber',
      phoneVerifiedAttribute: 'phoneVerified',
      preferredLanguageAttribute: 'preferredLanguage',
      avatarUrlAttribute: 'jpegPhoto',
      profileAttribute: 'description',
    },
  },
}
