import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { soundAnswers, startHostileProvider, type Upstream } from './upstreams.ts'

export interface LyingUpstream extends Upstream {
  /** The claims of the next ID token, in the place of the right ones. Undefined takes one away. */
  claims: Record<string, unknown>
  /** What its token endpoint gives beside, or in the place of what it has. */
  gives: Record<string, unknown>
  /** Of the sign-in that goes on. */
  nonce: string
  /** Whether the token endpoint waits; how often it was asked. */
  stalls: Promise<void> | undefined
  asked: URLSearchParams[]
  /** Signs a token, as it is. */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>
  /** Where the browser comes back to, from where Roster sent it. */
  back(leaving: string): string
}

/** A provider of OpenID Connect that signs in whoever comes, and says of them what a test says. */
export async function startLyingUpstream(more: Record<string, unknown> = {}): Promise<LyingUpstream> {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const state = {
    claims: {} as Record<string, unknown>,
    gives: {} as Record<string, unknown>,
    nonce: '',
    stalls: undefined as Promise<void> | undefined,
    asked: [] as URLSearchParams[],
  }
  const sign = (claims: Record<string, unknown>, header = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one', ...header }).sign(privateKey)
  const answer = async (request: IncomingMessage) => {
    const { nonce, claims } = state
    state.asked.push(new URLSearchParams(await text(request)))
    await state.stalls
    const now = Math.floor(Date.now() / 1000)
    const all = { iss: upstream.url, sub: 'nobody', aud: 'roster', nonce, iat: now, exp: now + 300, ...claims }
    const tokens = { access_token: 'an access token', refresh_token: 'a refresh token', expires_in: 60 }
    return JSON.stringify({ ...tokens, token_type: 'Bearer', id_token: await sign(all), ...state.gives })
  }
  const description = { ...(soundAnswers['/.well-known/openid-configuration'] as object), ...more }
  const upstream = await startHostileProvider({
    ...soundAnswers,
    '/.well-known/openid-configuration': description,
    '/keys': { keys: [jwk] },
    '/token': (response) => {
      void answer(response.req).then((body) => {
        response.setHeader('content-type', 'application/json')
        response.end(body)
      })
    },
  })
  return Object.assign(state, upstream, {
    sign,
    back(leaving: string) {
      const { searchParams } = new URL(leaving)
      state.nonce = searchParams.get('nonce')!
      const { pathname } = new URL(searchParams.get('redirect_uri')!)
      return `${pathname}?${String(new URLSearchParams({ code: 'a code', state: searchParams.get('state')! }))}`
    },
  })
}
