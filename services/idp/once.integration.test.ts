import { randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { IdentityProviderServiceDefinition } from '#gen/roster/idp/v1/identity_provider_service'
import { InternalServiceDefinition } from '#gen/roster/idp/v1/internal_service'
import { instance } from '#lib/instance'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { callBytes, type MethodDefinition } from '#lib/rpc/call'
import { testCallerKeys } from '#test/support/caller-keys'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { startTestKeeper } from '#test/support/keeper'
import { startOwnNats } from '#test/support/publishing'
import { callOf, connect, owner, silent } from '#test/support/rpc'
import { startHostileProvider, type Upstream } from '#test/support/upstreams/upstreams'
import type { Servers } from '../../deploy/local/servers.ts'
import { readIdpConfig } from './config.ts'
import { startIdp } from './service.ts'

let servers: Servers
let database: TestDatabase
let gateway: Nats
let users: Nats
let upstream: Upstream
const replicas: { nats: Nats; service: Service }[] = []
let keeper: Service

const { privateKey, publicKey } = await generateKeyPair('ES256')

beforeAll(async () => {
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig' }
  ;[servers, database, upstream] = await Promise.all([
    startOwnNats(),
    createDatabase(),
    startHostileProvider({ '/keys': { keys: [jwk] } }),
  ])
  keeper = await startTestKeeper(servers.natsUrl)
  ;[gateway, users] = await Promise.all([
    connect(servers.natsUrl.gateway, 'gateway'),
    connect(servers.natsUrl.users, 'users'),
  ])
  for (const name of ['one', 'two']) {
    const nats = await connectNats(servers.natsUrl.idp, name, silent)
    const config = readIdpConfig({
      DATABASE_URL: database.urls.idp,
      NATS_URL: servers.natsUrl.idp,
      ROSTER_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      ROSTER_CALLER_KEY: testCallerKeys.idp,
      IDP_ALLOW_PRIVATE: '127.0.0.1',
    })
    replicas.push({ nats, service: await startIdp({ config, nats, log: silent }) })
  }
})
afterAll(async () => {
  for (const { service } of replicas) await service.stop()
  await keeper?.stop()
  await Promise.all([gateway, users, ...replicas.map(({ nats }) => nats)].map((nats) => nats?.connection.close()))
  await upstream?.stop()
  await Promise.all([servers?.stop(), database?.drop()])
})

async function ask<Request, Response>(
  nats: Nats,
  { fullName }: { fullName: string },
  { name, requestType, responseType }: MethodDefinition<Request, Response>,
  request: Request,
): Promise<Response> {
  const call = callOf({ ...owner, instanceRoles: ['IAM_OWNER'] })
  const bytes = requestType.encode(request).finish()
  return responseType.decode((await callBytes(nats, `${fullName}.${name}`, bytes, call)).bytes)
}

test('a token signs in once, whichever replica it comes to', async () => {
  const { addJWTIDP } = IdentityProviderServiceDefinition.methods
  const audience = 'https://id.example.com/idps/acme'
  const settings = {
    name: 'Acme',
    stylingType: 0,
    autoRegister: false,
    issuer: 'acme',
    headerName: 'x-token',
    audience,
  }
  const { idpId } = await ask(gateway, IdentityProviderServiceDefinition, addJWTIDP, {
    ...settings,
    jwtEndpoint: 'https://acme.example.com/start',
    keysEndpoint: `${upstream.url}/keys`,
  })
  const { finishProviderSignIn } = InternalServiceDefinition.methods
  const finish = async (token: string) => {
    const begun = { idpId, organizationId: instance.id, state: randomUUID(), nonce: 'n', codeVerifier: 'v' }
    const { fault, subject } = await ask(users, InternalServiceDefinition, finishProviderSignIn, {
      begun: { ...begun, loginHint: '', promptsLogin: false, maxAge: undefined },
      answer: `state=${begun.state}`,
      tokens: [token],
      withClaims: false,
      cameTo: '/ui/login/idps/{idp_id}/callback',
    })
    return fault || subject
  }
  const now = Math.floor(Date.now() / 1000)
  const signed = () =>
    new SignJWT({ iss: 'acme', aud: audience, sub: 'ada', jti: randomUUID(), iat: now, exp: now + 300 })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .sign(privateKey)
  const token = await signed()
  // More than either replica gets by chance.
  const answers = await Promise.all(Array.from({ length: 10 }, () => finish(token)))
  expect(answers.toSorted()).toEqual(['ada', ...Array<string>(9).fill('not-believed')])
  expect(await finish(await signed())).toBe('ada')
})
