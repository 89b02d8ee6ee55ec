import { expect } from 'vitest'
import { unique } from '../../examples/people.ts'
import { type Call, has, id, keep, lists, query, step, type World } from './step.ts'
import { providerKinds } from './terraform-providers.ts'

const tenantId = '11111111-2222-3333-4444-555555555555'
const jwt = {
  jwtEndpoint: 'https://idp.example.com/jwt',
  issuer: 'https://idp.example.com',
  keysEndpoint: 'https://idp.example.com/keys',
  headerName: 'x-auth-token',
}
const kinds: [method: string, settings: object][] = [
  ...providerKinds.map(([, method, , settings, secret]): [string, object] => [
    method,
    { clientId: 'client', scopes: ['openid'], ...settings, ...secret },
  ]),
  ['JWT', jwt],
]

/** The providers of the instance, and those of an organization. */
export const providerCalls: Call[] = (['admin', 'management'] as const).flatMap((service) => [
  ...kinds.flatMap(([method, settings]) => {
    const request = ({ kind }: World) => ({
      ...settings,
      ...('tenant' in settings && { tenant: kind.oneof('type', 'tenantId', tenantId) }),
      name: unique(method),
      providerOptions: { isLinkingAllowed: true, isCreationAllowed: true, isAutoCreation: true },
    })
    return [
      step(service, `add${method}Provider`, request, keep('provider', 'id')),
      step(service, `update${method}Provider`, (world) => ({ ...request(world), ...id('provider')(world) })),
    ]
  }),
  step(
    service,
    'getProviderByID',
    id('provider'),
    has('idp', ({ kind }) => ({
      state: 1,
      type: 2,
      config: {
        options: expect.objectContaining({ isAutoCreation: true }),
        ...kind.oneof('config', 'jwt', expect.objectContaining(jwt)),
      },
    })),
  ),
  step(
    service,
    'listProviders',
    ({ kind, ids }) => ({ ...query, queries: [kind.oneof('query', 'idpIdQuery', { id: ids['provider'] })] }),
    lists(id('provider')),
  ),
  step(service, 'deleteProvider', id('provider')),
])
