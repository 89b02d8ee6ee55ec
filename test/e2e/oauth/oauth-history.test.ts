import { randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { connect } from 'nats'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import {
  assertion,
  basic,
  type ExampleClient,
  grantBy,
  issuer,
  newClient,
  obtainToken,
  sendForm,
} from '../../examples/oauth.ts'
import { admin, getUser, newHuman, newOrganization, ok, signIn, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'

const { house } = inject('roster')
let home: string
let client: ExampleClient

beforeAll(async () => {
  home = await newOrganization()
  client = await newClient({ organization: home })
})

describe.skipIf(!house)('the history of a machine contains', () => {
  test('every token and every failure, without secrets, and leaves the user unchanged', async () => {
    const machine = await newClient({ organization: home })
    const before = (await getUser(machine.userId)).details
    const text = await assertion(machine)
    const granted = (await grantBy(text, { scope: 'openid' })).body.access_token as string
    await grantBy(text)
    await grantBy(new UnsecuredJWT({ iss: machine.userId, sub: machine.userId }).encode())
    await sendForm('/oauth/v2/token', { grant_type: 'client_credentials' }, { headers: basic(machine.userId, 'wrong') })
    const token = await obtainToken(machine)
    await sendForm('/oauth/v2/revoke', { token }, { headers: basic(machine.userId, machine.secret) })
    const events = await eventsOf(machine.userId, 6)
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      [
        'token.issued',
        {
          tokenId: expect.any(String),
          grantType: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          credentialId: machine.keyId,
          scope: 'openid',
          expiresAt: expect.any(String),
        },
      ],
      ['failed', { method: 'jwt-bearer', reason: 'replayed' }],
      ['failed', { method: 'jwt-bearer', reason: 'claims' }],
      ['failed', { method: 'client_secret', reason: 'secret' }],
      ['token.issued', expect.objectContaining({ grantType: 'client_credentials', credentialId: machine.secretId })],
      ['token.revoked', { tokenId: (events[4]!.data as { tokenId: string }).tokenId }],
    ])
    for (const secret of [granted, token, text, machine.secret]) expect(JSON.stringify(events)).not.toContain(secret)
    expect((await getUser(machine.userId)).details).toEqual(before)
  })

  test('every attempt with the right secret and a bad proof, so that a thief of the secret is noticed', async () => {
    const machine = await newClient({ organization: home })
    ok(await call('SetDPoP', { userId: machine.userId, required: true }, admin()))
    const headers = basic(machine.userId, machine.secret)
    const ask = (dpop?: string) =>
      sendForm(
        '/oauth/v2/token',
        { grant_type: 'client_credentials' },
        { headers: { ...headers, ...(dpop && { dpop }) } },
      )
    const proof = await tokenProof()
    const answers = [await ask(), await ask('x'), await ask(proof), await ask(proof)]
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 200, 400])
    const failed = ['failed', { method: 'client_secret', reason: 'proof' }]
    const events = (await eventsOf(machine.userId, 4)).map(({ type, data }) => [type, data])
    expect(events).toEqual([failed, failed, ['token.issued', expect.anything()], failed])
  })
})

describe('userinfo', () => {
  const ask = async (token: string, method = 'GET') => {
    const response = await fetch(`${issuer()}/oidc/v1/userinfo`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    })
    return { status: response.status, body: await response.json(), challenge: response.headers.get('www-authenticate') }
  }

  test.each(['GET', 'POST'])('by %s returns what the scope is for, and no more', async (method) => {
    const { userId, userName, organization } = client
    const of = async (scope: string) => (await ask(await obtainToken(client, scope), method)).body
    expect(await of('openid')).toEqual({ sub: userId, organization })
    expect(await of('openid profile email')).toEqual({
      sub: userId,
      organization,
      name: 'A client',
      preferred_username: userName,
      updated_at: expect.any(Number),
    })
  })

  test('without openid is refused as insufficient_scope', async () => {
    const { status, body, challenge } = await ask(await obtainToken(client, 'profile'))
    expect([status, body]).toEqual([403, { error: 'insufficient_scope', error_description: expect.any(String) }])
    expect(challenge).toContain('error="insufficient_scope"')
  })

  test('returns everything to a human’s session', async () => {
    const human = await newHuman(home, { password: unique('Password') })
    expect((await ask(await signIn(human))).body).toEqual({
      sub: human.userId,
      organization: home,
      name: 'Ada L.',
      preferred_username: human.userName,
      given_name: 'Ada',
      family_name: 'Lovelace',
      gender: 'female',
      locale: 'en',
      updated_at: expect.any(Number),
      email: human.email,
      email_verified: true,
    })
  })

  test('says when what it tells last changed, and nothing of other changes', async () => {
    const human = await newHuman(home, { password: unique('Password') })
    let token = await signIn(human)
    const updatedAt = async () => ((await ask(token)).body as { updated_at: number }).updated_at
    const created = Math.floor(Date.parse((await getUser(human.userId)).details.creationDate) / 1000)
    expect(await updatedAt()).toBe(created)
    // Times are in seconds.
    await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(created + 1)
    const password = unique('Password')
    ok(await call('SetPassword', { userId: human.userId, newPassword: { password } }, admin(home)))
    token = await signIn({ ...human, password })
    expect(await updatedAt()).toBe(created)
    ok(await call('UpdateMyProfile', { firstName: 'A', lastName: 'L', displayName: 'A L' }, { token }))
    expect(await updatedAt()).toBeGreaterThan(created)
  })

  test('takes a token in a form, not beside one in the header, and none that needs a proof', async () => {
    const send = async (body: Record<string, string>, headers: Record<string, string> = {}, query = '') => {
      const url = `${issuer()}/oidc/v1/userinfo${query}`
      const answer = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(body) })
      return [answer.status, ((await answer.json()) as { error?: string }).error]
    }
    const token = await obtainToken(client, 'openid')
    const authorization = `Bearer ${token}`
    expect(await send({ access_token: token, unknown: 'x' })).toEqual([200, undefined])
    expect(await send({}, { authorization })).toEqual([200, undefined])
    expect(await send({ access_token: token }, { authorization })).toEqual([400, 'invalid_request'])
    expect(await send({ access_token: 'x'.repeat(20_000) })).toEqual([413, 'invalid_request'])
    expect(await send({ access_token: `${token}x` })).toEqual([401, 'invalid_token'])
    expect(await send({}, {}, `?access_token=${token}`)).toEqual([400, 'invalid_request'])
    expect(await send({})).toEqual([401, 'invalid_token'])
    const text = await fetch(`${issuer()}/oidc/v1/userinfo`, { method: 'POST', body: `access_token=${token}` })
    expect(text.status).toBe(401)
  })

  test('without a token asks for one', async () => {
    const response = await fetch(`${issuer()}/oidc/v1/userinfo`)
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer realm="roster", DPoP /),
    ])
  })
})

describe('roles in a project', () => {
  test('count in the organization that gave them, and not in the machine’s own', async () => {
    const owner = await newOrganization()
    const projectId = await newProject(owner, ['admin', 'reader'])
    const tenant = await newOrganization()
    ok(await call('AddProjectGrant', { projectId, grantedOrgId: tenant, roleKeys: ['admin'] }, admin(owner)))
    const { userId } = client
    ok(await call('AddUserGrant', { userId, projectId, roleKeys: ['admin'] }, admin(tenant)))
    ok(await call('AddUserGrant', { userId, projectId, roleKeys: ['reader'] }, admin(owner)))
    const token = await obtainToken(client, `project:${projectId}`)
    const reader = await newClient({ organization: owner })
    const headers = basic(reader.userId, reader.secret)
    const { body } = await sendForm('/oauth/v2/introspect', { token }, { headers })
    expect(body).toMatchObject({ active: true, organization: home, roles: ['reader'], aud: [projectId] })
    expect(body.project_roles).toHaveLength(2)
    expect(body.project_roles).toContainEqual({ organization: tenant, roles: ['admin'] })
  })
})

describe('documents', () => {
  test.each(['oauth-authorization-server', 'openid-configuration'])(
    '/.well-known/%s may be cached, and read by any page',
    async (name) => {
      const response = await fetch(`${issuer()}/.well-known/${name}`, {
        headers: { origin: 'https://app.example.com' },
      })
      expect(response.headers.get('cache-control')).toBe('public, max-age=300')
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(await response.json()).toMatchObject({
        issuer: issuer(),
        token_endpoint: `${issuer()}/oauth/v2/token`,
        authorization_endpoint: `${issuer()}/oauth/v2/authorize`,
        response_types_supported: ['code'],
        response_modes_supported: ['query', 'fragment', 'form_post'],
        grant_types_supported: [
          'client_credentials',
          'urn:ietf:params:oauth:grant-type:jwt-bearer',
          'authorization_code',
          'refresh_token',
        ],
        scopes_supported: ['openid', 'profile', 'email', 'roles', 'offline_access', 'urn:roster:provider_tokens'],
        prompt_values_supported: ['none', 'login', 'consent', 'select_account', 'create'],
        code_challenge_methods_supported: ['S256'],
        acr_values_supported: ['urn:roster:acr:1', 'urn:roster:acr:2', 'phr'],
        id_token_signing_alg_values_supported: ['RS256', 'ES256', 'EdDSA', 'PS256'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
        introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
        revocation_endpoint_auth_methods_supported: [
          'none',
          'client_secret_basic',
          'client_secret_post',
          'private_key_jwt',
        ],
        claims_parameter_supported: true,
        request_parameter_supported: false,
        request_uri_parameter_supported: false,
        authorization_response_iss_parameter_supported: true,
      })
    },
  )

  test('the published keys contain no private part', async () => {
    const { keys } = (await (await fetch(`${issuer()}/oauth/v2/keys`)).json()) as { keys: object[] }
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys)
      expect(
        Object.keys(key).filter((name) => !['kty', 'use', 'alg', 'kid', 'crv', 'x', 'y', 'n', 'e'].includes(name)),
      ).toEqual([])
  })
})

async function eventsOf(userId: string, count: number) {
  const { host, username: user, password: pass } = new URL(house!.natsUrl)
  const nats = await connect({ servers: host, user, pass })
  try {
    const subject = `roster.events.users.${home}.authentication.${userId}.>`
    const consumer = await nats.jetstream().consumers.get('roster-events', { filterSubjects: subject })
    const events: { type: string; data: unknown }[] = []
    for await (const message of await consumer.consume()) {
      events.push({ type: message.subject.split('.').slice(6).join('.'), data: message.json() })
      if (events.length === count) break
    }
    return events
  } finally {
    await nats.close()
  }
}

async function tokenProof() {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  return new SignJWT({ htm: 'POST', htu: `${issuer()}/oauth/v2/token`, jti: randomUUID() })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(publicKey) })
    .setIssuedAt()
    .sign(privateKey)
}
