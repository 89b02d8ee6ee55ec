import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ExampleClient, assertion, issuer, jwtBearer, newClient } from '../../examples/oauth.ts'
import { admin, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call, encodings, recordSecret, over } from '../clients/encodings.ts'

const insecure = { execute: [openid.allowInsecureRequests] }
const inHttp = { [oauth.allowInsecureRequests]: true }
let opaque: ExampleClient
let jwt: ExampleClient

beforeAll(async () => {
  opaque = await newClient({ roles: ['ORG_USER_MANAGER'] })
  jwt = await newClient({ jwt: true, roles: ['ORG_USER_MANAGER'] })
})

const clients = [
  { kind: 'opaque', get: () => opaque },
  { kind: 'JWT', get: () => jwt },
]

describe.each(clients)('openid-client by discovery, with an $kind token:', ({ get }) => {
  const methods: { method: string; auth: (client: ExampleClient) => openid.ClientAuth }[] = [
    { method: 'client_secret_basic', auth: ({ secret }) => openid.ClientSecretBasic(secret) },
    { method: 'client_secret_post', auth: ({ secret }) => openid.ClientSecretPost(secret) },
    { method: 'private_key_jwt', auth: ({ key, keyId: kid }) => openid.PrivateKeyJwt({ key, kid }) },
  ]

  test.each(methods)('client_credentials by $method, introspected and revoked', async ({ auth }) => {
    const client = get()
    const config = await openid.discovery(new URL(issuer()), client.userId, undefined, auth(client), insecure)
    const {
      access_token: token,
      expires_in,
      token_type,
      scope,
    } = await openid.clientCredentialsGrant(config, {
      scope: 'openid profile',
    })
    recordSecret(token)
    expect({ expires_in, token_type, scope }).toEqual({
      expires_in: 43_200,
      token_type: 'bearer',
      scope: 'openid profile',
    })
    expect(await openid.fetchUserInfo(config, token, client.userId)).toMatchObject({
      sub: client.userId,
      name: 'A client',
      preferred_username: client.userName,
    })
    expect(await openid.tokenIntrospection(config, token)).toMatchObject({
      active: true,
      sub: client.userId,
      client_id: client.userId,
      username: client.userName,
      scope: 'openid profile',
      token_type: 'Bearer',
      iss: issuer(),
      aud: [issuer()],
      organization: client.organization,
    })
    await openid.tokenRevocation(config, token)
    expect(await openid.tokenIntrospection(config, token)).toEqual({ active: false })
    await expect(openid.fetchUserInfo(config, token, client.userId)).rejects.toMatchObject({ status: 401 })
  })

  test('jwt-bearer, as a generic grant of a client without authentication', async () => {
    const client = get()
    const config = await openid.discovery(new URL(issuer()), client.userId, undefined, openid.None(), insecure)
    const { access_token: token } = await openid.genericGrantRequest(config, jwtBearer, {
      assertion: await assertion(client),
      scope: 'openid',
    })
    expect(await openid.fetchUserInfo(config, token, client.userId)).toMatchObject({ sub: client.userId })
  })
})

describe('oauth4webapi by discovery (RFC 8414):', () => {
  const discover = async () => {
    const url = new URL(issuer())
    return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...inHttp }))
  }

  test.each(['RS256', 'ES256', 'EdDSA'] as const)('private_key_jwt with %s', async (algorithm) => {
    const client = await newClient({ algorithm, jwt: true })
    const [server, me] = [await discover(), { client_id: client.userId }]
    const auth = () => oauth.PrivateKeyJwt({ key: client.key, kid: client.keyId })
    const { access_token: token } = await oauth.processClientCredentialsResponse(
      server,
      me,
      await oauth.clientCredentialsGrantRequest(server, me, auth(), {}, inHttp),
    )
    const introspected = await oauth.introspectionRequest(server, me, auth(), token, inHttp)
    expect(await oauth.processIntrospectionResponse(server, me, introspected)).toMatchObject({ active: true })
    await oauth.processRevocationResponse(await oauth.revocationRequest(server, me, auth(), token, inHttp))
    const after = await oauth.introspectionRequest(server, me, auth(), token, inHttp)
    expect(await oauth.processIntrospectionResponse(server, me, after)).toEqual({ active: false })
  })

  test('a resource server validates a JWT access token by RFC 9068, with only the published keys', async () => {
    const [server, me] = [await discover(), { client_id: jwt.userId }]
    const answer = await oauth.clientCredentialsGrantRequest(
      server,
      me,
      oauth.ClientSecretBasic(jwt.secret),
      {},
      inHttp,
    )
    const { access_token: token } = await oauth.processClientCredentialsResponse(server, me, answer)
    const request = new Request('https://api.example.com/', { headers: { authorization: `Bearer ${token}` } })
    expect(await oauth.validateJwtAccessToken(server, request, issuer(), inHttp)).toMatchObject({ sub: jwt.userId })
  })

  test('a wrong secret is invalid_client, which the library recognizes', async () => {
    const [server, me] = [await discover(), { client_id: opaque.userId }]
    const wrong = await oauth.clientCredentialsGrantRequest(server, me, oauth.ClientSecretPost('wrong'), {}, inHttp)
    await expect(oauth.processClientCredentialsResponse(server, me, wrong)).rejects.toMatchObject({
      error: 'invalid_client',
    })
  })
})

describe('a JWT access token', () => {
  test('can be checked offline with jose and names the subject, the audience and the roles', async () => {
    const { organization, userId } = jwt
    const projectId = await newProject(organization, ['reader', 'writer'])
    ok(await call('AddUserGrant', { userId, projectId, roleKeys: ['reader'] }, admin(organization)))
    const scope = `openid roles project:${projectId}`
    const config = await openid.discovery(new URL(issuer()), userId, jwt.secret, undefined, insecure)
    const { access_token: token } = await openid.clientCredentialsGrant(config, { scope })
    const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri!))
    const { payload } = await jwtVerify(token, keys, { issuer: issuer(), audience: projectId, typ: 'at+jwt' })
    expect(payload).toEqual({
      iss: issuer(),
      sub: userId,
      aud: [projectId],
      client_id: userId,
      iat: expect.any(Number),
      exp: payload.iat! + 43_200,
      jti: expect.any(String),
      scope,
      organization,
      roles: ['reader'],
      project_roles: [{ organization, roles: ['reader'] }],
      organization_roles: [{ organization, roles: ['ORG_USER_MANAGER'] }],
    })
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) })
    const { exp, jti, iat, ...rest } = payload
    expect(await openid.tokenIntrospection(config, token)).toMatchObject({ active: true, exp, jti, iat, ...rest })
  })
})

describe.each(encodings.filter(({ encoding }) => encoding !== 'json'))('over $encoding a token', ({ call }) => {
  const grant = { grantType: 'client_credentials' }

  test('is issued and revoked as over HTTP, with Roster’s own errors', async () => {
    const { userId: clientId, secret: clientSecret } = opaque
    const { accessToken: token, tokenType } = ok(await call('IssueToken', { ...grant, clientId, clientSecret }))
    expect(tokenType).toBe('Bearer')
    expect(ok(await call('IntrospectToken', { token, clientId, clientSecret }))).toMatchObject({
      active: true,
      sub: clientId,
    })
    ok(await call('RevokeToken', { token, clientId, clientSecret }))
    expect(ok(await call('IntrospectToken', { token, clientId, clientSecret }))).toEqual({ active: false })
    const wrong = await call('IssueToken', { ...grant, clientId, clientSecret: 'wrong' })
    expect(factsOf(wrong)).toMatchObject({ code: 16, reason: 'INVALID_CLIENT' })
    expect(factsOf(await call('IssueToken', { clientId })).fields).toEqual(['grantType'])
  })
})

describe.each(over('connect'))('an access token is a bearer token over $encoding:', ({ call }) => {
  test.each(clients)('$kind: gives access to the own user and by the machine’s roles, and no more', async ({ get }) => {
    const client = get()
    const config = await openid.discovery(new URL(issuer()), client.userId, client.secret, undefined, insecure)
    const { access_token: token } = await openid.clientCredentialsGrant(config)
    expect(ok(await call('GetUser', { userId: client.userId }, { token })).user.userName).toBe(client.userName)
    ok(await call('AddMachineUser', { userName: `made-by-${Math.random()}`, name: 'M' }, { token }))
    expect((await call('AddProject', { name: 'P' }, { token })).error?.code).toBe(7)
  })
})
