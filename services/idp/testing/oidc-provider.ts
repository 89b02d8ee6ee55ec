import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { destinations } from '#lib/outbound/destinations'
import { guardedFetch } from '#lib/outbound/guarded-fetch'
import {
  type Answers,
  redirectUri,
  soundAnswers,
  startHostileProvider,
  type Upstream,
} from '#test/support/upstreams/upstreams'
import type { Upstream as Asked } from '../protocols/protocol.ts'

/** The key of the provider, and one that is not its own. */
export const [keys, stranger] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])

/** Stops the providers that were started. */
export async function stopProviders(): Promise<void> {
  await Promise.all(started.splice(0).map((upstream) => upstream.stop()))
}
const started: Upstream[] = []

export const description = {
  ...(soundAnswers['/.well-known/openid-configuration'] as object),
  id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'],
}

export interface Lie {
  /** Claims of the ID token, in the place of the right ones. */
  claims?: Record<string, unknown> | ((url: string) => Record<string, unknown>)
  /** Beside what a key has. */
  jwk?: Record<string, unknown>
  sign?: (token: SignJWT, claims: Record<string, unknown>) => Promise<string> | string
  answers?: Answers
  userinfo?: Record<string, unknown>
}

export const ada = { sub: 'Ada|1', email: 'ada@example.com', email_verified: true, given_name: 'Ada', locale: 5 }

/** A provider that signs Ada in, but for what it lies about. `asked`: what came to its token endpoint, `seen`: how often its
 * keys were asked for. */
export async function startProvider(nonce: string, { claims, jwk: more, sign, answers, userinfo = ada }: Lie = {}) {
  const asked: URLSearchParams[] = []
  const seen = { keyRequests: 0 }
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig', ...more }
  const now = Math.floor(Date.now() / 1000)
  const signed = async (request: IncomingMessage) => {
    asked.push(new URLSearchParams(await text(request)))
    const iss = `http://${request.headers.host}`
    const all = { iss, sub: ada.sub, aud: 'roster', nonce, iat: now, exp: now + 300, auth_time: now - 60 }
    Object.assign(all, typeof claims === 'function' ? claims(iss) : claims)
    const token = new SignJWT(all).setProtectedHeader({ alg: 'RS256', kid: 'one' })
    return sign ? sign(token, all) : token.sign(keys.privateKey)
  }
  const upstream = await startHostileProvider({
    ...soundAnswers,
    '/.well-known/openid-configuration': { ...description, userinfo_endpoint: '{url}/userinfo' },
    '/keys': (response) => {
      seen.keyRequests += 1
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ keys: [jwk] }))
    },
    '/token': (response) => {
      void signed(response.req).then((idToken) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ access_token: 'access', token_type: 'Bearer', id_token: idToken }))
      })
    },
    '/userinfo': (response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(userinfo))
    },
    ...answers,
  })
  started.push(upstream)
  return { url: upstream.url, asked, seen }
}

export function askedOf(issuer: string, more: Partial<Asked<'oidc'>> = {}): Asked<'oidc'> {
  const fetch = guardedFetch(destinations.read('127.0.0.1'), { within: 5000, mostBody: 256 * 1024 })
  const configuration = { clientId: 'roster', issuer, scopes: [] }
  return { configuration, secret: { secret: 'a secret' }, redirectUri, fetch, clockAhead: 0, ...more }
}
