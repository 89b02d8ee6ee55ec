import { generateKeyPairSync } from 'node:crypto'
import { unique } from '../../examples/people.ts'
import { found } from './terraform-found.ts'
import type { Place, TerraformKind } from './terraform-kind.ts'

const options = {
  isLinkingAllowed: false,
  isCreationAllowed: true,
  isAutoCreation: false,
  isAutoUpdate: true,
  autoLinking: 0,
}
const otherOptions = { ...options, isLinkingAllowed: true, isAutoCreation: true, isAutoUpdate: false }
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
const endpoints = {
  authorizationEndpoint: 'https://idp.example.com/authorize',
  tokenEndpoint: 'https://idp.example.com/token',
  userEndpoint: 'https://idp.example.com/user',
}
const issuer = 'https://idp.example.com'
const clientSecret = 'secret'

/** The kinds of ZITADEL's provider, its methods, the member of the answer, and what it sends beside name, client and scopes. */
export const providerKinds: [kind: string, method: string, config: string, settings: object, secret: object][] = [
  ['oidc', 'GenericOIDC', 'oidc', { issuer, isIdTokenMapping: true, usePkce: false }, { clientSecret }],
  ['oauth', 'GenericOAuth', 'oauth', { ...endpoints, idAttribute: 'id', usePkce: false }, { clientSecret }],
  ['google', 'Google', 'google', {}, { clientSecret }],
  ['github', 'GitHub', 'github', {}, { clientSecret }],
  ['github_es', 'GitHubEnterpriseServer', 'githubEs', endpoints, { clientSecret }],
  ['gitlab', 'GitLab', 'gitlab', {}, { clientSecret }],
  ['gitlab_self_hosted', 'GitLabSelfHosted', 'gitlabSelfHosted', { issuer }, { clientSecret }],
  [
    'azure_ad',
    'AzureAD',
    'azureAd',
    { tenant: { type: { case: 'tenantId', value: '11111111-2222-3333-4444-555555555555' } }, emailVerified: false },
    { clientSecret },
  ],
  ['apple', 'Apple', 'apple', { teamId: 'team', keyId: 'key' }, { privateKey: pem }],
]

const owners = [
  { prefix: 'zitadel_idp_', api: (place: Place) => place.in('').admin as Record<string, any>, owner: 1 },
  {
    prefix: 'zitadel_org_idp_',
    api: (place: Place) => place.in(place.organization).management as Record<string, any>,
    owner: 2,
  },
]

/** The kinds of identity providers, of the instance and of an organization. */
export const terraformProviders: TerraformKind[] = owners.flatMap(({ prefix, api, owner }) =>
  providerKinds.map(([kind, method, config, settings, secret]): TerraformKind => {
    const common = { clientId: 'client', scopes: ['openid', 'profile'], ...settings }
    const shown = (name: unknown, providerOptions: object, clientId: string) => ({
      name,
      owner,
      config: { options: providerOptions, config: { case: config, value: { ...common, clientId } } },
    })
    const request = { ...common, ...secret, name: unique(kind), providerOptions: options }
    const other = { ...request, name: unique(kind), clientId: 'other', providerOptions: otherOptions }
    return {
      kind: prefix + kind,
      create: async (place) => (await api(place)[`add${method}Provider`](request)).id,
      read: (place, id) => found(api(place)['getProviderByID']({ id }), 'idp'),
      created: shown(request.name, options, 'client'),
      update: (place, id) => api(place)[`update${method}Provider`]({ ...other, id }),
      updated: shown(other.name, otherOptions, 'other'),
      remove: (place, id) => api(place)['deleteProvider']({ id }),
      importedById: true,
    }
  }),
)
