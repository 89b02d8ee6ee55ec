import { unique } from './people.ts'
import { type ErrorCase, exists, fails, invalid, notFound, precondition } from './world.ts'

const none = () => ({})
const inFirst = { organization: () => 'default' }

export const organizationErrors: ErrorCase[] = [
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
  ...(['GetOrganization', 'RemoveOrganization'] as const).map((operation) =>
    fails(operation, notFound('ORGANIZATION_NOT_FOUND'), 'the organization is unknown', () => ({ orgId: 'unknown' })),
  ),
  fails('AddOrganization', invalid, 'the name shows nothing', () => ({ name: '\u3000' }), { fields: ['name'] }),
  fails('UpdateOrganization', invalid, 'the name is empty', () => ({ name: '' }), { fields: ['name'] }),
  fails('ReactivateOrganization', precondition('ORGANIZATION_NOT_INACTIVE'), 'the organization is active', none),
  fails('DeactivateOrganization', precondition('LAST_IAM_OWNER'), 'all owners are of the organization', none, inFirst),
  fails('RemoveMyOrganization', precondition('ORGANIZATION_IS_FIRST'), 'the organization is the first', none, inFirst),
  fails('RemoveOrganization', precondition('ORGANIZATION_IS_FIRST'), 'the organization is the first', () => ({
    orgId: 'default',
  })),
  ...['x', 'X.example.com', 'x..example.com', '-x.example.com', 'x.example.com.', 'x_y.example.com'].map((domain) =>
    fails('SetPrimaryDomain', invalid, `the domain is no domain: ${domain}`, () => ({ domain }), {
      fields: ['domain'],
    }),
  ),
  ...['x', 'x..example.com', '-x.example.com', 'x_y.example.com', '10.0.0.1', 'a@example.com', 'example.com/a'].map(
    (domain) =>
      fails('AddOrganizationDomain', invalid, `the domain is no domain: ${domain}`, () => ({ domain }), {
        fields: ['domain'],
      }),
  ),
  ...(['GetOrganizationDomain', 'VerifyOrganizationDomain', 'RemoveOrganizationDomain'] as const).map((operation) =>
    fails(operation, notFound('ORGANIZATION_DOMAIN_NOT_FOUND'), 'the organization does not have the domain', () => ({
      domain: 'unknown.example',
    })),
  ),
  fails('ConfirmOrganizationDomain', notFound('ORGANIZATION_NOT_FOUND'), 'the organization is unknown', () => ({
    orgId: 'unknown',
    domain: 'unknown.example',
  })),
  fails('SearchOrganizations', invalid, 'the limit is too high', () => ({ limit: 1001 }), { fields: ['limit'] }),
  fails(
    'SearchOrganizations',
    { ...invalid, reason: 'CURSOR_INVALID' },
    'the cursor is made up',
    () => ({ cursor: 'abc' }),
    { fields: ['cursor'] },
  ),
  fails(
    'SearchMyOrganizations',
    { ...invalid, reason: 'CURSOR_INVALID' },
    'the cursor is made up',
    () => ({ cursor: 'abc' }),
    { fields: ['cursor'] },
  ),
]
