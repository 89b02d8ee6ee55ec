import { importPKCS8 } from 'jose'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type ExampleApplication, newApi, newApplication, newSigningApi } from '../../examples/applications.ts'
import { examplePair } from '../../examples/machines.ts'
import { assertion, assertionType, basic, clientCredentials, sendForm, tokenPath } from '../../examples/oauth.ts'
import { admin, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { callGrpc } from '../clients/grpc.ts'
import { watchRequest } from '../mistakes/log-line.ts'

let home: string
let projectId: string
beforeAll(async () => {
  home = await newOrganization()
  projectId = await newProject(home)
})

interface Client extends ExampleApplication {
  keyId?: string
  key?: Parameters<typeof assertion>[0]['key']
}

const act = async (...[operation, request]: Parameters<typeof call>) => ok(await call(operation, request, admin(home)))

async function withKey(application: ExampleApplication): Promise<Client> {
  const { pem, privatePem } = examplePair('ES256')
  const { projectId, appId } = application
  const { keyId } = await act('AddApplicationKey', { projectId, appId, publicKey: pem })
  return { ...application, keyId, key: await importPKCS8(privatePem, 'ES256') }
}

const oidc =
  (method: string, more = {}) =>
  () =>
    newApplication(home, projectId, { authMethodType: `OIDC_AUTH_METHOD_TYPE_${method}`, ...more })
const kinds = [
  { kind: 'public', way: 'none', add: oidc('NONE', { appType: 'OIDC_APP_TYPE_USER_AGENT' }) },
  { kind: 'with HTTP Basic', way: 'secret', add: oidc('BASIC') },
  { kind: 'with a secret in the form', way: 'secret', add: oidc('POST') },
  { kind: 'with a key', way: 'private_key_jwt', add: async () => withKey(await oidc('PRIVATE_KEY_JWT')()) },
  { kind: 'API with a secret', way: 'secret', add: () => newApi(home, projectId, 'BASIC') },
  {
    kind: 'API with a key',
    way: 'private_key_jwt',
    add: async () => withKey(await newSigningApi(home, projectId)),
  },
]

type Ask = { form: Record<string, string>; headers?: { authorization: string } }

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** Each way to prove who one is. What an application does not have is made up. */
const ways: Record<string, (client: Client) => Promise<Ask>> = {
  none: async ({ clientId }) => ({ form: { client_id: clientId } }),
  client_secret_basic: async ({ clientId, clientSecret }) => ({
    form: {},
    headers: basic(clientId, clientSecret || 'none'),
  }),
  client_secret_post: async ({ clientId, clientSecret }) => ({
    form: { client_id: clientId, client_secret: clientSecret || 'none' },
  }),
  private_key_jwt: async ({ clientId: userId, keyId = 'none', key }) => ({
    form: {
      client_assertion_type: assertionType,
      client_assertion: await assertion({
        userId,
        keyId,
        algorithm: 'ES256',
        key: key ?? (await importPKCS8(examplePair('ES256').privatePem, 'ES256')),
      }),
    },
  }),
}

/** An assertion of the client that nobody has signed: by its own word, or by that of a key. */
const unsigned = (algorithm: string) => async (client: Client) => {
  const { form } = await ways['private_key_jwt']!(client)
  const [header, claims] = form['client_assertion']!.split('.')
  const { kid } = JSON.parse(Buffer.from(header!, 'base64url').toString()) as { kid: string }
  const client_assertion = `${encoded({ alg: algorithm, kid })}.${claims}.`
  return { form: { ...form, client_assertion } }
}
const unsignedWays: typeof ways = { 'without an algorithm': unsigned('none'), 'without a signature': unsigned('ES256') }

async function ask(client: Client, names: string[], path = tokenPath, more: Record<string, string> = {}) {
  const parts = await Promise.all(names.map((name) => (ways[name] ?? unsignedWays[name])!(client)))
  const form = Object.assign({ grant_type: clientCredentials, ...more }, ...parts.map(({ form }) => form))
  const headers = parts.flatMap(({ headers }) => headers ?? [])[0]
  return sendForm(path, form, { ...(headers && { headers }) })
}
const error = async (...[client, names]: Parameters<typeof ask>) => (await ask(client, names)).body.error

const kindOf: Record<string, string> = { client_secret_basic: 'secret', client_secret_post: 'secret' }
// An application that proved who it is may not use this grant.
const [proved, refused] = ['unauthorized_client', 'invalid_client']

describe.each(kinds)('an application $kind', ({ way, add }) => {
  test('proves who it is by that alone, a secret by HTTP Basic or in the form', async () => {
    const client: Client = await add()
    for (const name of [...Object.keys(ways), ...Object.keys(unsignedWays)])
      expect(await error(client, [name]), name).toBe(kindOf[name] === way || name === way ? proved : refused)
  })

  test('is refused where it proves it in two ways at once, also where one is an assertion that is not signed', async () => {
    const client: Client = await add()
    const secrets = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']
    const assertions = Object.keys(unsignedWays)
    for (const other of secrets)
      for (const another of [
        ...secrets.slice(secrets.indexOf(other) + 1),
        ...(other === 'private_key_jwt' ? [] : assertions),
      ]) {
        const { status, body } = await ask(client, [other, another])
        expect({ status, error: body.error }, `${other} and ${another}`).toEqual({
          status: 400,
          error: 'invalid_request',
        })
      }
  })
})

test('two proofs at once are named, in every encoding, and the log says that there were two', async () => {
  const { clientId, clientSecret } = await newApplication(home, projectId)
  const client_assertion = 'an assertion'
  const form = { grant_type: clientCredentials, client_assertion_type: assertionType, client_assertion }
  const send = (more: Record<string, string>, headers = {}) => sendForm(tokenPath, { ...form, ...more }, { headers })
  const posted = await send({ client_id: clientId, client_secret: clientSecret })
  expect(posted.body.error_description).toMatch(/client_secret or by client_assertion/)
  const inHeader = await send({}, basic(clientId, clientSecret))
  expect(inHeader.body.error_description).toMatch(/Authorization header or by client_assertion/)
  const both = { grantType: clientCredentials, clientId, clientSecret, clientAssertion: client_assertion }
  expect(factsOf(await callGrpc('IssueToken', both)).reason).toBe('CLIENT_AUTHENTICATED_TWICE')
  if (!inject('roster').house) return
  const { headers, ended } = watchRequest()
  await send({}, { ...basic(clientId, clientSecret), ...headers })
  expect(await ended()).toMatchObject([{ msg: 'call', reason: 'CLIENT_AUTHENTICATED_TWICE' }])
})

test('what grants has stored works at once: a secret, a key, another method, a reactivation', async () => {
  const client: Client = await newApplication(home, projectId)
  const { appId } = client
  const own = { projectId, appId }
  expect(await error(client, ['client_secret_basic'])).toBe(proved)
  const { clientSecret } = await act('GenerateClientSecret', own)
  expect(await error({ ...client, clientSecret }, ['client_secret_basic'])).toBe(proved)
  await act('DeactivateApplication', own)
  await expect.poll(() => error({ ...client, clientSecret }, ['client_secret_basic']), soon).toBe(refused)
  await act('ReactivateApplication', own)
  expect(await error({ ...client, clientSecret }, ['client_secret_basic'])).toBe(proved)
  await act('UpdateOIDCConfig', {
    ...own,
    redirectUris: [],
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT',
  })
  expect(await error(await withKey(client), ['private_key_jwt'])).toBe(proved)
})

const soon = { timeout: 15_000, interval: 200 }

describe('soon nobody is let in by', () => {
  const ends: { end: string; by: (client: Client) => Promise<unknown> }[] = [
    { end: 'a former secret', by: ({ projectId, appId }) => act('GenerateClientSecret', { projectId, appId }) },
    {
      end: 'a deactivated application',
      by: ({ projectId, appId }) => act('DeactivateApplication', { projectId, appId }),
    },
    { end: 'a removed application', by: ({ projectId, appId }) => act('RemoveApplication', { projectId, appId }) },
    { end: 'an application of a deactivated project', by: ({ projectId }) => act('DeactivateProject', { projectId }) },
    { end: 'an application of a removed project', by: ({ projectId }) => act('RemoveProject', { projectId }) },
  ]
  test.each(ends)('$end', async ({ by }) => {
    const client: Client = await newApplication(home, await newProject(home))
    expect(await error(client, ['client_secret_basic'])).toBe(proved)
    await by(client)
    await expect.poll(() => error(client, ['client_secret_basic']), soon).toBe(refused)
  })

  test('a removed key', async () => {
    const client = await withKey(await newSigningApi(home, projectId))
    expect(await error(client, ['private_key_jwt'])).toBe(proved)
    await act('RemoveApplicationKey', { projectId, appId: client.appId, keyId: client.keyId! })
    await expect.poll(() => error(client, ['private_key_jwt']), soon).toBe(refused)
  })

  test('an application of a deactivated organization', async () => {
    const abroad = await newOrganization()
    const client: Client = await newApplication(abroad, await newProject(abroad))
    expect(await error(client, ['client_secret_basic'])).toBe(proved)
    ok(await call('DeactivateOrganization', {}, admin(abroad)))
    await expect.poll(() => error(client, ['client_secret_basic']), soon).toBe(refused)
  })
})

test('an assertion of an application introspects once', async () => {
  const client = await withKey(await newSigningApi(home, projectId))
  const { form } = await ways['private_key_jwt']!(client)
  const introspect = () => sendForm('/oauth/v2/introspect', { token: 'unknown', ...form })
  expect((await introspect()).body).toEqual({ active: false })
  expect((await introspect()).body.error).toBe(refused)
})

test('a public application revokes, but learns nothing of tokens', async () => {
  const client: Client = await kinds[0]!.add()
  expect((await ask(client, ['none'], '/oauth/v2/revoke', { token: 'unknown' })).status).toBe(200)
  expect((await ask(client, ['none'], '/oauth/v2/introspect', { token: 'unknown' })).body.error).toBe(refused)
})
