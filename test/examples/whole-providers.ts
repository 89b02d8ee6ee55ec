import type { JsonObject } from '@bufbuild/protobuf'
import { generateKeyPairSync } from 'node:crypto'

export interface WholeProvider {
  /** The member of the request and of the answer. */
  kind: string
  number: string
  settings: JsonObject
  /** Each of them, with another value. */
  changes: JsonObject
  /** What GetIDP shows of it. */
  record: JsonObject
  /** How the request brings the secret. */
  secret: JsonObject
}

const secret = { clientSecret: 'secret' }
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const key = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }) as string).toString('base64')
const endpoint = (name: string) => `https://i.example/${name}`
const endpoints = {
  authorizationEndpoint: endpoint('authorize'),
  tokenEndpoint: endpoint('token'),
  userEndpoint: endpoint('user'),
}
const otherEndpoints = {
  authorizationEndpoint: endpoint('a'),
  tokenEndpoint: endpoint('b'),
  userEndpoint: endpoint('c'),
}
const hosted = { clientId: 'client', scopes: ['openid', 'email'] }
const otherHosted = { clientId: 'other', scopes: ['openid'] }

/** A provider of each kind. */
export const wholeProviders: WholeProvider[] = [
  {
    kind: 'oidc',
    number: 'IDP_KIND_OIDC',
    settings: { issuer: 'https://i.example', ...hosted, isIdTokenMapping: true },
    changes: { issuer: 'https://j.example', ...otherHosted, usePkce: true },
    record: { oidc: { issuer: 'https://i.example', ...hosted, idTokenAlone: true, usePkce: false } },
    secret,
  },
  {
    kind: 'oauth',
    number: 'IDP_KIND_OAUTH',
    settings: { ...hosted, ...endpoints, idAttribute: 'id' },
    changes: { ...otherHosted, ...otherEndpoints, idAttribute: 'sub', usePkce: true },
    record: { oauth: { ...hosted, ...endpoints, idAttribute: 'id', usePkce: false } },
    secret,
  },
  {
    kind: 'jwt',
    number: 'IDP_KIND_JWT',
    settings: { jwtEndpoint: endpoint('jwt'), issuer: 'i', keysEndpoint: endpoint('keys'), headerName: 'x-token' },
    changes: { jwtEndpoint: endpoint('a'), issuer: 'j', keysEndpoint: endpoint('b'), headerName: 'x-other' },
    record: {
      jwt: { jwtEndpoint: endpoint('jwt'), issuer: 'i', keysEndpoint: endpoint('keys'), headerName: 'x-token' },
    },
    secret: {},
  },
  {
    kind: 'google',
    number: 'IDP_KIND_GOOGLE',
    settings: hosted,
    changes: otherHosted,
    record: {
      stylingType: 'STYLING_TYPE_GOOGLE',
      oidc: { ...hosted, issuer: 'https://accounts.google.com', preset: 'IDP_PRESET_GOOGLE' },
    },
    secret,
  },
  {
    kind: 'github',
    number: 'IDP_KIND_GITHUB',
    settings: hosted,
    changes: otherHosted,
    record: {
      oauth: {
        ...hosted,
        authorizationEndpoint: 'https://github.com/login/oauth/authorize',
        tokenEndpoint: 'https://github.com/login/oauth/access_token',
        userEndpoint: 'https://api.github.com/user',
        idAttribute: 'id',
        preset: 'IDP_PRESET_GITHUB',
      },
    },
    secret,
  },
  {
    kind: 'githubEs',
    number: 'IDP_KIND_GITHUB_ES',
    settings: { ...hosted, ...endpoints },
    changes: { ...otherHosted, ...otherEndpoints },
    record: { oauth: { ...hosted, ...endpoints, idAttribute: 'id', preset: 'IDP_PRESET_GITHUB' } },
    secret,
  },
  {
    kind: 'gitlab',
    number: 'IDP_KIND_GITLAB',
    settings: hosted,
    changes: otherHosted,
    record: { oidc: { ...hosted, issuer: 'https://gitlab.com', preset: 'IDP_PRESET_GITLAB' } },
    secret,
  },
  {
    kind: 'gitlabSelfHosted',
    number: 'IDP_KIND_GITLAB_SELF_HOSTED',
    settings: { ...hosted, issuer: 'https://git.example' },
    changes: { ...otherHosted, issuer: 'https://git2.example' },
    record: { oidc: { ...hosted, issuer: 'https://git.example', preset: 'IDP_PRESET_GITLAB' } },
    secret,
  },
  {
    kind: 'azureAd',
    number: 'IDP_KIND_AZURE_AD',
    settings: { ...hosted, tenant: { tenantType: 'MICROSOFT_TENANT_TYPE_ORGANISATIONS' } },
    changes: { ...otherHosted, tenant: { tenantId: '11111111-2222-3333-4444-555555555555' } },
    record: {
      oidc: {
        ...hosted,
        issuer: 'https://login.microsoftonline.com/organizations/v2.0',
        preset: 'IDP_PRESET_MICROSOFT',
      },
    },
    secret,
  },
  {
    kind: 'apple',
    number: 'IDP_KIND_APPLE',
    settings: { ...hosted, teamId: 'team', keyId: 'key' },
    changes: { ...otherHosted, teamId: 'team2', keyId: 'key2' },
    record: {
      oidc: {
        ...hosted,
        issuer: 'https://appleid.apple.com',
        preset: 'IDP_PRESET_APPLE',
        appleKey: { teamId: 'team', keyId: 'key' },
      },
    },
    secret: { privateKey: key },
  },
]
