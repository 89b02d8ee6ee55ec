import type { JsonObject } from '@bufbuild/protobuf'
import { addition, examples, forOrganization, ofOneProvider, protocols } from './idps.ts'
import { unique } from './people.ts'
import { type ErrorCase, exists, fails, invalid, notFound, precondition, type World } from './world.ts'

const known = ({ idp: { idpId } }: World) => ({ idpId })
const none = notFound('IDP_NOT_FOUND')

/** What a field of a protocol may not be. */
const faults: [keyof typeof examples, string, JsonObject, string?][] = [
  ['oidc', 'the issuer has no TLS', { issuer: 'http://i.example' }],
  ['oidc', 'the issuer names a user', { issuer: 'https://a:b@i.example' }],
  ['oidc', 'the issuer has a fragment', { issuer: 'https://i.example/#a' }],
  ['oidc', 'the issuer is private', { issuer: 'https://10.0.0.1' }],
  ['jwt', 'the place of the keys is private', { keysEndpoint: 'https://[::ffff:10.0.0.1]/keys' }],
  ['oauth', 'the token endpoint is private', { tokenEndpoint: 'https://169.254.169.254/' }],
  ['oauth', 'the endpoint of users is private', { userEndpoint: 'https://0/' }],
  ['ldap', 'a server is private', { servers: ['ldap://a.example', 'ldap://10.1'] }, 'servers[1]'],
  ['oidc', 'the client id is empty', { clientId: '' }],
  ['jwt', 'the place of the keys is no address', { keysEndpoint: 'keys' }],
  ['jwt', 'the header has a blank', { headerName: 'x token' }],
  ['jwt', 'the header has a line end', { headerName: 'x-token\r\nx-other' }],
  ['oauth', 'the token endpoint is a script', { tokenEndpoint: 'javascript:alert(1)' }],
  ['oauth', 'a scope is empty', { scopes: ['a', ''] }, 'scopes[1]'],
  ['saml', 'the metadata have a DOCTYPE', { metadataXml: base64('<!DOCTYPE a><EntityDescriptor />') }],
  ['saml', 'the metadata are no XML', { metadataXml: base64('metadata') }],
  ['saml', 'the metadata have more than 100,000 bytes', { metadataXml: base64(' '.repeat(100_001)) }],
  ['saml', 'the binding is unknown', { binding: 99 }],
  ['ldap', 'a server speaks another protocol', { servers: ['ldap://a.example', 'http://a.example'] }, 'servers[1]'],
  ['ldap', 'a server names a user', { servers: ['ldap://a@a.example'] }, 'servers[0]'],
  ['ldap', 'the timeout is too long', { timeout: '60.001s' }],
  ['ldap', 'the timeout is negative', { timeout: '-5s' }],
  ['ldap', 'a filter is more than an attribute', { userFilters: ['uid)(a=*'] }, 'userFilters[0]'],
  [
    'ldap',
    'an attribute is none',
    { attributes: { idAttribute: 'uid', emailAttribute: '*' } },
    'attributes.emailAttribute',
  ],
]

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

const faulty = faults.flatMap(([protocol, when, part, field = Object.keys(part)[0]!]) => {
  const { add, update } = examples[protocol]
  const fields = [field]
  return [
    fails(add, invalid, when, () => ({ ...addition(examples[protocol]), ...part }), { fields }),
    fails(forOrganization(update), invalid, when, () => ({ idpId: 'unknown', ...part }), { fields }),
  ]
})

// Each operation twice: for the instance, where an organization owner may nothing, and for an organization.
const ofEach = ofOneProvider('any').flatMap(([operation, request]) => [
  fails(operation, none, 'the provider is unknown', () => ({ ...request, idpId: 'unknown' })),
  fails(forOrganization(operation), none, "the provider is the instance's", (world) => ({
    ...request,
    ...known(world),
  })),
])

const ofAdditions = protocols.flatMap((example) => [
  fails(example.add, exists('IDP_NAME_TAKEN'), 'the name is taken', ({ idp }) => addition(example, idp.name)),
  fails(example.add, invalid, 'the name is missing', () => addition(example, ''), { fields: ['name'] }),
  fails(example.add, invalid, 'the name shows nothing', () => addition(example, '\u200b'), { fields: ['name'] }),
])

const ofSearches = (['SearchIDPs', 'SearchOrganizationIDPs'] as const).flatMap((operation) => [
  fails(operation, invalid, 'the limit is too high', () => ({ limit: 1001 }), { fields: ['limit'] }),
  fails(operation, { ...invalid, reason: 'CURSOR_INVALID' }, 'no answer gave the cursor', () => ({ cursor: 'x' }), {
    fields: ['cursor'],
  }),
])

/** Identity providers. */
export const idpErrors: ErrorCase[] = [
  ...ofEach,
  ...ofAdditions,
  ...ofSearches,
  ...faulty,
  fails('UpdateIDP', invalid, 'the name is missing', known, { fields: ['name'] }),
  fails('UpdateIDP', exists('IDP_NAME_TAKEN'), 'another provider has the name', ({ idp, otherIdp }) => ({
    idpId: idp.idpId,
    name: otherIdp.name.toUpperCase(),
  })),
  fails('UpdateIDPJWTConfig', precondition('IDP_TYPE_MISMATCH'), 'the provider is of another type', known),
  fails('ReactivateIDP', precondition('IDP_NOT_INACTIVE'), 'the provider is active', known),
  fails(
    'AddSAMLIDP',
    invalid,
    'the address of the metadata is private',
    () => ({ name: unique('Provider'), metadataUrl: 'https://192.168.1.1/' }),
    { fields: ['metadataUrl'] },
  ),
  fails('AddSAMLIDP', invalid, 'there are no metadata', () => ({ name: unique('Provider') }), { fields: ['metadata'] }),
  fails(
    'UpdateIDPOIDCConfig',
    invalid,
    'the scopes are both given and cleared',
    (world) => ({
      ...known(world),
      scopes: ['openid'],
      clearScopes: true,
    }),
    { fields: ['clearScopes'] },
  ),
]
