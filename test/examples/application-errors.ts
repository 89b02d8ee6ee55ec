import type { Operation } from './contract.ts'
import { type ErrorCase, exists, fails, invalid, notFound, owner, precondition, type World } from './world.ts'

const own = ({ application: { projectId, appId } }: World) => ({ projectId, appId })
const api = ({ api: { projectId, appId } }: World) => ({ projectId, appId })
const added = ({ project }: World) => ({ projectId: project, name: 'App' })
const none = notFound('APPLICATION_NOT_FOUND')

/** Operations on one application, each with what it needs beside the ids. */
const ofOne: [Operation, object][] = [
  ['GetApplication', {}],
  ['PatchApplication', {}],
  ['UpdateApplication', {}],
  ['UpdateOIDCConfig', {}],
  ['UpdateAPIConfig', {}],
  ['DeactivateApplication', {}],
  ['ReactivateApplication', {}],
  ['RemoveApplication', {}],
  ['GenerateClientSecret', {}],
  ['AddClientSecret', {}],
  ['ListClientSecrets', {}],
  ['SearchApplicationArrivals', {}],
  ['SetClientSecretExpiration', { secretId: 'unknown' }],
  ['RemoveClientSecret', { secretId: 'unknown' }],
  ['AddApplicationKey', {}],
  ['ListApplicationKeys', {}],
  ['RemoveApplicationKey', { keyId: 'unknown' }],
]

/** Applications, once they are there. */
export const applicationErrors: ErrorCase[] = [
  ...ofOne.flatMap(([operation, more]) => [
    fails(operation, none, 'it is unknown', (world) => ({ ...own(world), ...more, appId: 'unknown' }), owner),
    fails(operation, none, 'it is of another project', (world) => ({
      ...own(world),
      ...more,
      projectId: world.foreignProject,
    })),
    fails(operation, none, 'another organization owns the project', (world) => ({ ...own(world), ...more }), {
      organization: ({ abroad }) => abroad,
    }),
  ]),
  ...(['AddOIDCApplication', 'AddAPIApplication'] as const).flatMap((operation) => [
    fails(
      operation,
      notFound('PROJECT_NOT_FOUND'),
      'the project is foreign',
      ({ foreignProject }) => ({ projectId: foreignProject, name: 'App' }),
      owner,
    ),
    fails(operation, invalid, 'the name is empty', (world) => ({ ...added(world), name: '' }), { fields: ['name'] }),
    fails(
      operation,
      invalid,
      'the name turns the direction',
      (world) => ({ ...added(world), name: 'Bank \u202emoc.live' }),
      { fields: ['name'] },
    ),
    fails(operation, invalid, 'the client id has a blank', (world) => ({ ...added(world), clientId: 'a b' }), {
      fields: ['clientId'],
    }),
    fails(
      operation,
      invalid,
      'the client id is that of the console',
      (world) => ({ ...added(world), clientId: 'roster-console' }),
      { fields: ['clientId'] },
    ),
    fails(operation, exists('CLIENT_ID_TAKEN'), 'a user has the client id', (world) => ({
      ...added(world),
      clientId: world.machineId,
    })),
    fails(operation, exists('CLIENT_ID_TAKEN'), 'a user has the id, which becomes the client id', (world) => ({
      ...added(world),
      appId: world.machineId,
    })),
    fails(operation, exists('APPLICATION_ID_TAKEN'), 'the id is taken', (world) => ({
      ...added(world),
      appId: own(world).appId,
      clientId: 'another',
    })),
    fails(operation, exists('APPLICATION_ID_TAKEN'), 'the id is that of the console', (world) => ({
      ...added(world),
      appId: 'roster-console',
    })),
    fails(operation, invalid, 'the id has a blank', (world) => ({ ...added(world), appId: 'a b' }), {
      fields: ['appId'],
    }),
  ]),
  fails('UpdateApplication', invalid, 'the name is empty', (world) => ({ ...own(world), name: '' }), {
    fields: ['name'],
  }),
  fails('PatchApplication', precondition('APPLICATION_TYPE_MISMATCH'), 'it is an API', (world) => ({
    ...api(world),
    oidcConfig: { devMode: true },
  })),
  fails(
    'PatchApplication',
    invalid,
    'the mask has no such field',
    (world) => ({ ...own(world), updateMask: 'oidcConfig.unknown' }),
    { fields: ['updateMask'] },
  ),
  fails('UpdateOIDCConfig', precondition('APPLICATION_TYPE_MISMATCH'), 'it is an API', api),
  fails('UpdateAPIConfig', precondition('APPLICATION_TYPE_MISMATCH'), 'it is no API', own),
  fails('ReactivateApplication', precondition('APPLICATION_NOT_INACTIVE'), 'it is active', own),
  fails('GenerateClientSecret', precondition('AUTH_METHOD_WITHOUT_SECRET'), 'it signs', api),
  fails('AddClientSecret', precondition('AUTH_METHOD_WITHOUT_SECRET'), 'it signs', api),
  ...[
    { operation: 'AddClientSecret', more: {} } as const,
    { operation: 'SetClientSecretExpiration', more: { secretId: 'unknown' } } as const,
  ].map(({ operation, more }) =>
    fails(
      operation,
      invalid,
      'it ends in the past',
      (world) => ({ ...own(world), ...more, expirationDate: '2020-01-01T00:00:00Z' }),
      { fields: ['expirationDate'] },
    ),
  ),
  ...(['SetClientSecretExpiration', 'RemoveClientSecret'] as const).map((operation) =>
    fails(operation, notFound('CREDENTIAL_NOT_FOUND'), 'the secret is unknown', (world) => ({
      ...own(world),
      secretId: 'unknown',
    })),
  ),
  fails('AddApplicationKey', precondition('AUTH_METHOD_WITHOUT_KEYS'), 'it has a secret', own),
  fails('AddApplicationKey', invalid, 'the key is none', (world) => ({ ...api(world), publicKey: 'key' }), {
    fields: ['publicKey'],
  }),
  fails(
    'AddApplicationKey',
    invalid,
    'it ends in the past',
    (world) => ({ ...api(world), expirationDate: '2020-01-01T00:00:00Z' }),
    { fields: ['expirationDate'] },
  ),
  fails('RemoveApplicationKey', notFound('CREDENTIAL_NOT_FOUND'), 'the key is unknown', (world) => ({
    ...api(world),
    keyId: 'unknown',
  })),
  fails(
    'SearchApplications',
    { reason: 'CURSOR_INVALID', code: 3, http: 400 },
    'no answer gave the cursor',
    ({ project }) => ({ projectId: project, cursor: 'none' }),
    { fields: ['cursor'] },
  ),
  fails(
    'SearchApplicationArrivals',
    { reason: 'CURSOR_INVALID', code: 3, http: 400 },
    'no answer gave the cursor',
    (world) => ({ ...own(world), cursor: 'none' }),
    { fields: ['cursor'] },
  ),
]
