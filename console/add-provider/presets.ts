import type { IdpAddJWTIDPRequest, IdpAddOAuthIDPRequest, IdpAddOIDCIDPRequest } from '#gen/console/api'
import jwtRules from '../../gen/console/rules/roster.idp.v1.AddJWTIDPRequest.json'
import oauthRules from '../../gen/console/rules/roster.idp.v1.AddOAuthIDPRequest.json'
import oidcRules from '../../gen/console/rules/roster.idp.v1.AddOIDCIDPRequest.json'
import type { Rules } from '../form/rules.ts'
import { idToCome, type Kind, kindNames } from '../providers/kinds.ts'
import { words } from './words.ts'

/** What the form has, by the names that the API has where it has the field. */
export const nothing = {
  kind: 'google',
  name: kindNames.google,
  tenancy: 'one',
  tenant: '',
  host: 'github.com',
  issuer: '',
  authorizationEndpoint: '',
  tokenEndpoint: '',
  userEndpoint: '',
  idAttribute: '',
  jwtEndpoint: '',
  keysEndpoint: '',
  headerName: '',
  clientId: '',
  'appleKey.teamId': '',
  'appleKey.keyId': '',
  clientSecret: '',
  autoRegister: '',
}

export type Wanted = typeof nothing
export type FieldName = keyof Wanted

/** What a new provider is asked for, and the request that adds it. */
interface Preset {
  label: string
  /** Beside name and kind. */
  fields: FieldName[]
  request: (wanted: Wanted) => Added
  /** What the form calls a field of the request otherwise. */
  fieldOf?: Record<string, FieldName>
}

export type Added =
  | { protocol: 'oidc'; request: IdpAddOIDCIDPRequest }
  | { protocol: 'oauth'; request: IdpAddOAuthIDPRequest }
  | { protocol: 'jwt'; request: IdpAddJWTIDPRequest }

// Its redirect URI has its id, so the record comes before what the provider gives for that.
const toCome = { clientId: idToCome, clientSecret: idToCome }
const oidc = (request: IdpAddOIDCIDPRequest): Added => ({ protocol: 'oidc', request: { ...toCome, ...request } })

export const presets: Partial<Record<Kind, Preset>> = {
  google: {
    label: kindNames.google,
    fields: [],
    request: () =>
      oidc({
        preset: 'IDP_PRESET_GOOGLE',
        issuer: 'https://accounts.google.com',
        stylingType: 'STYLING_TYPE_GOOGLE',
      }),
  },
  microsoft: {
    label: kindNames.microsoft,
    fields: ['tenancy', 'tenant'],
    request: ({ tenancy, tenant }) =>
      oidc({
        preset: 'IDP_PRESET_MICROSOFT',
        issuer: `https://login.microsoftonline.com/${tenancy === 'one' ? tenant : tenancy}/v2.0`,
      }),
    fieldOf: { issuer: 'tenant' },
  },
  github: {
    label: kindNames.github,
    fields: ['host'],
    request: ({ host }) => ({
      protocol: 'oauth',
      request: {
        ...toCome,
        preset: 'IDP_PRESET_GITHUB',
        authorizationEndpoint: `https://${host}/login/oauth/authorize`,
        tokenEndpoint: `https://${host}/login/oauth/access_token`,
        userEndpoint: host === 'github.com' ? 'https://api.github.com/user' : `https://${host}/api/v3/user`,
        idAttribute: 'id',
      },
    }),
    fieldOf: { authorizationEndpoint: 'host', tokenEndpoint: 'host', userEndpoint: 'host' },
  },
  gitlab: {
    label: kindNames.gitlab,
    fields: ['issuer'],
    request: ({ issuer }) => oidc({ preset: 'IDP_PRESET_GITLAB', issuer }),
  },
  apple: {
    label: kindNames.apple,
    fields: ['clientId', 'appleKey.teamId', 'appleKey.keyId', 'clientSecret'],
    request: ({ clientId, clientSecret, 'appleKey.teamId': teamId, 'appleKey.keyId': keyId }) =>
      oidc({
        preset: 'IDP_PRESET_APPLE',
        issuer: 'https://appleid.apple.com',
        clientId,
        clientSecret,
        appleKey: { teamId, keyId },
      }),
  },
  oidc: { label: words.otherOidc, fields: ['issuer'], request: ({ issuer }) => oidc({ issuer }) },
  oauth: {
    label: words.otherOauth,
    fields: ['authorizationEndpoint', 'tokenEndpoint', 'userEndpoint', 'idAttribute'],
    request: ({ authorizationEndpoint, tokenEndpoint, userEndpoint, idAttribute }) => ({
      protocol: 'oauth',
      request: { ...toCome, authorizationEndpoint, tokenEndpoint, userEndpoint, idAttribute },
    }),
  },
  jwt: {
    label: words.jwt,
    fields: ['jwtEndpoint', 'issuer', 'keysEndpoint', 'headerName'],
    request: ({ jwtEndpoint, issuer, keysEndpoint, headerName }) => ({
      protocol: 'jwt',
      request: { jwtEndpoint, issuer, keysEndpoint, headerName },
    }),
  },
}

/** What the form begins with, where a preset knows it. */
export const known: Partial<Record<Kind, Partial<Wanted>>> = { gitlab: { issuer: 'https://gitlab.com' } }

export const rules: Rules = {
  ...(jwtRules as Rules),
  ...(oauthRules as Rules),
  ...(oidcRules as Rules),
  tenant: [{ rule: 'pattern', value: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$', says: words.tenantRule }],
  host: [{ rule: 'pattern', value: '^[A-Za-z0-9.\\-]+(:[0-9]{1,5})?$', says: words.hostRule }],
}

/** Whether a field is part of what is sent. */
export function isAsked(name: string, { kind, tenancy }: Pick<Wanted, 'kind' | 'tenancy'>): boolean {
  if (name === 'tenant' && tenancy !== 'one') return false
  return name === 'name' || name === 'kind' || presets[kind as Kind]!.fields.includes(name as FieldName)
}
