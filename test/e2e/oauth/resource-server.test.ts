import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basic, type ExampleClient, issuer, newClient, obtainToken, sendForm } from '../../examples/oauth.ts'
import { newOrganization } from '../../examples/people.ts'
import { type Apache, findApache, startApache, startTls } from './apache.ts'

const found = findApache()
const why = found === undefined ? ' (skipped: Debian’s packages cannot be had)' : ''
let apache: Apache
let tls: { url: string; stop(): void }
let jwt: ExampleClient
let opaque: ExampleClient

beforeAll(async () => {
  if (found === undefined) return
  const home = await newOrganization()
  ;[jwt, opaque] = [await newClient({ organization: home, jwt: true }), await newClient({ organization: home })]
  const watcher = await newClient({ organization: home })
  tls = await startTls(issuer())
  // The module knows one way of checking per server, so use one virtual host for each.
  apache = await startApache(found, [
    'OIDCOAuthSSLValidateServer Off',
    ...host('jwt.localhost', [`OIDCOAuthVerifyJwksUri ${tls.url}/oauth/v2/keys`, 'OIDCOAuthRemoteUserClaim sub']),
    ...host('opaque.localhost', [
      `OIDCOAuthIntrospectionEndpoint ${tls.url}/oauth/v2/introspect`,
      'OIDCOAuthIntrospectionEndpointAuth client_secret_basic',
      `OIDCOAuthClientID ${watcher.userId}`,
      `OIDCOAuthClientSecret ${watcher.secret}`,
      'OIDCOAuthTokenIntrospectionInterval -1',
      'OIDCOAuthRemoteUserClaim sub',
    ]),
  ])
})

afterAll(async () => {
  await apache?.stop()
  tls?.stop()
})

function host(name: string, lines: string[]): string[] {
  const location = ['<Location />', 'AuthType oauth20', `Require claim iss:${issuer()}`, '</Location>']
  return ['<VirtualHost *:*>', `ServerName ${name}`, ...lines, ...location, '</VirtualHost>']
}

async function ask(name: string, token: string | undefined): Promise<number> {
  const headers = { host: name, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  request(`${apache.url}/index.html`, { headers }, (response) => resolve(response.resume().statusCode ?? 0))
    .on('error', reject)
    .end()
  return promise
}

describe.skipIf(found === undefined)(`Apache with mod_auth_openidc is a resource server${why}:`, () => {
  test('it accepts a JWT by the published keys, and no other', async () => {
    const token = await obtainToken(jwt)
    expect(await ask('jwt.localhost', token)).toBe(200)
    for (const wrong of [undefined, `${token.slice(0, -4)}AAAA`, await obtainToken(opaque)])
      expect(await ask('jwt.localhost', wrong)).toBe(401)
  })

  test('it accepts an opaque token by introspection, until the token is revoked', async () => {
    const token = await obtainToken(opaque)
    expect(await ask('opaque.localhost', token)).toBe(200)
    await sendForm('/oauth/v2/revoke', { token }, { headers: basic(opaque.userId, opaque.secret) })
    for (const wrong of [undefined, token, 'none']) expect(await ask('opaque.localhost', wrong)).toBe(401)
  })
})
