import { unique } from './people.ts'
import {
  denied,
  type ErrorCase,
  exists,
  fails,
  invalid,
  manager,
  nobody,
  notFound,
  owner,
  precondition,
  type World,
} from './world.ts'

const missing = { code: 16, http: 401, reason: 'TOKEN_MISSING' }
const none = () => ({})
const inAbroad = { organization: ({ abroad }: World) => abroad }
const inUnknown = { organization: () => 'unknown' }
const inFirst = { organization: () => 'default' }
const own = ['UpdateOrganization', 'DeactivateOrganization', 'ReactivateOrganization', 'RemoveMyOrganization'] as const
const byId = ['GetOrganization', 'RemoveOrganization'] as const

/** Organizations. */
export const organizationErrors: ErrorCase[] = [
  fails('AddOrganization', denied, 'an organization owner calls', () => ({ name: unique('Organization') }), owner),
  ...['default', 'roster'].map((orgId) =>
    fails('AddOrganization', exists('ORGANIZATION_ID_TAKEN'), `the id is ${orgId}`, () => ({ name: 'O', orgId })),
  ),
  fails('AddOrganization', exists('ORGANIZATION_ID_TAKEN'), 'the id is taken', ({ home }) => ({
    name: unique('Organization'),
    orgId: home,
  })),
  fails('AddOrganization', invalid, 'the id has other symbols', () => ({ name: 'O', orgId: '__proto__' }), {
    fields: ['orgId'],
  }),
  fails('GetMyOrganization', denied, 'the organization is unknown', none, inUnknown),
  ...own.flatMap((operation) => [
    fails(operation, missing, 'without a token', none, nobody),
    fails(operation, denied, 'the caller manages users only', none, manager),
    fails(operation, denied, 'the organization is unknown', none, inUnknown),
    fails(operation, denied, 'an organization owner calls for another one', none, { ...owner, ...inAbroad }),
  ]),
  ...byId.flatMap((operation) => [
    fails(operation, missing, 'without a token', ({ home }) => ({ orgId: home }), nobody),
    fails(operation, denied, 'the organization is foreign', ({ abroad }) => ({ orgId: abroad }), owner),
    fails(operation, denied, 'the organization is unknown to its caller', () => ({ orgId: 'unknown' }), owner),
    fails(operation, notFound('ORGANIZATION_NOT_FOUND'), 'the organization is unknown', () => ({ orgId: 'unknown' })),
  ]),
  fails('RemoveOrganization', denied, 'the caller manages users only', ({ home }) => ({ orgId: home }), manager),
  fails('UpdateOrganization', invalid, 'the name is empty', () => ({ name: '' }), { fields: ['name'] }),
  fails('ReactivateOrganization', precondition('ORGANIZATION_NOT_INACTIVE'), 'the organization is active', none),
  fails('DeactivateOrganization', precondition('LAST_IAM_OWNER'), 'all owners are of the organization', none, inFirst),
  fails('RemoveMyOrganization', precondition('ORGANIZATION_IS_FIRST'), 'the organization is the first', none, inFirst),
  fails('RemoveOrganization', precondition('ORGANIZATION_IS_FIRST'), 'the organization is the first', () => ({
    orgId: 'default',
  })),
  fails('SetPrimaryDomain', missing, 'without a token', () => ({ domain: 'x.example.com' }), nobody),
  fails('SetPrimaryDomain', denied, 'the caller manages users only', () => ({ domain: 'x.localhost' }), manager),
  fails('SetPrimaryDomain', denied, 'the owner chooses a domain elsewhere', () => ({ domain: 'x.example.com' }), owner),
  ...['x', 'X.example.com', 'x..example.com', '-x.example.com', 'x.example.com.', 'x_y.example.com'].map((domain) =>
    fails('SetPrimaryDomain', invalid, `the domain is no domain: ${domain}`, () => ({ domain }), {
      fields: ['domain'],
    }),
  ),
  fails('SearchOrganizations', missing, 'without a token', none, nobody),
  fails('SearchOrganizations', denied, 'an organization owner calls', none, owner),
  fails('SearchOrganizations', invalid, 'the limit is too high', () => ({ limit: 1001 }), { fields: ['limit'] }),
  fails(
    'SearchOrganizations',
    { ...invalid, reason: 'CURSOR_INVALID' },
    'nobody gave the cursor',
    () => ({ cursor: 'abc' }),
    { fields: ['cursor'] },
  ),
]
