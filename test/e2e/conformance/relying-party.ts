import { randomBytes } from 'node:crypto'
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import { expect } from 'vitest'
import { basic, type OAuthAnswer, sendForm } from '../../examples/oauth.ts'
import { openBrowser } from '../../examples/sign-in.ts'
import { type Arrival, openPerson } from './person.ts'
import type { Provider } from './provider.ts'

export type Client = Provider['clients'][number]
export type RelyingParty = Awaited<ReturnType<typeof openRelyingParty>>
type Parameters = Record<string, string>

/** What the provider says of itself, as far as a module asks. */
interface Metadata {
  issuer: string
  jwks_uri: string
  authorization_endpoint: string
  token_endpoint: string
  userinfo_endpoint: string
  end_session_endpoint: string
  token_endpoint_auth_methods_supported: string[]
  scopes_supported: string[]
  acr_values_supported: string[]
  request_parameter_supported: boolean
}

/** What an ID token may say where nobody asked for a claim. */
const plainClaims = ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'amr', 'azp', 'at_hash', 'sid']
/** What the suite lets a clock differ by, in seconds. */
const clockTolerance = 300

/** A client that knows the issuer alone, and checks what the suite checks in each flow. It has a person at a browser. */
export async function openRelyingParty({ issuer, person, clients }: Provider, responseMode: string) {
  const discovered = await fetch(`${issuer}/.well-known/openid-configuration`)
  const metadata = (await discovered.json()) as Metadata
  const keys = createRemoteJWKSet(new URL(metadata.jwks_uri))
  const ownClient = clients[0]!
  const newBrowser = () => openPerson(openBrowser(issuer), person, issuer)
  const own = newBrowser()
  return { metadata, request, arrivalOf, authorize, redeem, refresh, redeemed, describe, newBrowser, browser: own }

  /** The parameters of a request, first those that are given, in their order. An empty one is not sent. */
  function request(more: Parameters = {}, { clientId, redirectUri }: Client = ownClient): Parameters {
    const random = () => randomBytes(16).toString('base64url')
    const usual = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid', state: random(), nonce: random() }
    const all = { ...more, ...usual, response_type: 'code', response_mode: responseMode, ...more }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  }

  /** Where the browser comes to at the end. An answer came as it was asked for, and is the one to this request. */
  async function arrivalOf(asked: Parameters, browser = own, method?: 'POST'): Promise<Arrival> {
    const arrival = await browser.go(metadata.authorization_endpoint, asked, method)
    if (!arrival.answer) return arrival
    const { uri, answer } = arrival
    expect([arrival.method, uri]).toEqual([responseMode === 'form_post' ? 'POST' : 'GET', ownClient.redirectUri])
    expect(answer).toMatchObject({ state: asked['state'], iss: issuer })
    if (!('error' in answer)) return arrival
    expect(['error', 'error_description', 'state', 'iss']).toEqual(expect.arrayContaining(Object.keys(answer)))
    expect(answer['error_description'] ?? '').toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/)
    return arrival
  }

  /** A whole flow, up to what UserInfo says. */
  async function authorize(more: Parameters = {}, options: Flow = {}) {
    const { client = ownClient, browser = own, method, verifier } = options
    const asked = request(more, client)
    const { answer, signedIn, first } = await arrivalOf(asked, browser, method)
    const { code } = { code: '', ...answer }
    expect(code, JSON.stringify(answer)).toMatch(/^[\x20-\x7e]{16,}$/)
    const { tokens, claims } = await redeemed(await redeem(code, client, verifier), client, asked['nonce'])
    const { status, body } = await describe(tokens.access_token)
    expect({ status, body }).toMatchObject({ status: 200, body: { sub: claims.sub } })
    return { code, tokens, claims, userInfo: body, signedIn, page: first.body }
  }

  function redeem(code: string, client = ownClient, verifier?: string) {
    const { redirectUri: redirect_uri } = client
    const grant = { grant_type: 'authorization_code', code, redirect_uri }
    return send({ ...grant, ...(verifier && { code_verifier: verifier }) }, client)
  }

  function refresh(refresh_token: string, client: Client, more: Parameters = {}) {
    return send({ grant_type: 'refresh_token', refresh_token, ...more }, client)
  }

  function send(form: Parameters, { clientId, clientSecret, posts }: Client) {
    const secret = { client_id: clientId, client_secret: clientSecret }
    const headers = posts ? {} : basic(clientId, clientSecret)
    return sendForm('', { ...form, ...(posts && secret) }, { headers, url: metadata.token_endpoint })
  }

  /** The tokens of an answer, and the claims of the ID token. */
  async function redeemed({ status, headers, body }: OAuthAnswer, { clientId }: Client, nonce?: string) {
    expect({ status, body }).toMatchObject({ status: 200, body: { token_type: expect.stringMatching(/^bearer$/i) } })
    expect(headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(headers.get('cache-control')).toContain('no-store')
    expect(body.expires_in).toBeGreaterThan(0)
    expect(body.access_token).toMatch(/^[\x20-\x7e]{16,}$/)
    const claims = await verify(body.id_token, clientId)
    if (nonce !== undefined) expect(claims['nonce']).toBe(nonce)
    return { tokens: body, claims }
  }

  async function verify(idToken: string, audience: string): Promise<JWTPayload> {
    const { payload, protectedHeader } = await jwtVerify(idToken, keys, {
      issuer,
      audience,
      algorithms: ['RS256'],
      requiredClaims: ['sub', 'exp', 'iat'],
      maxTokenAge: 1,
      clockTolerance,
    })
    expect(protectedHeader.kid).toBeTruthy()
    expect(payload.sub).toMatch(/^[\x21-\x7e]{1,255}$/)
    expect(payload['azp'] ?? audience).toBe(audience)
    expect(payload['acr']).not.toBe('')
    expect(plainClaims).toEqual(expect.arrayContaining(Object.keys(payload)))
    return payload
  }

  /** What UserInfo says of a person. */
  async function describe(token: string, init: RequestInit = { headers: { authorization: `Bearer ${token}` } }) {
    const answer = await fetch(metadata.userinfo_endpoint, init)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/)
    const body = (await answer.json()) as Record<string, any>
    return { status: answer.status, body }
  }
}

interface Flow {
  client?: Client
  /** Default: the one in which somebody is signed in after the first flow. */
  browser?: ReturnType<typeof openPerson>
  method?: 'POST'
  verifier?: string
}
