import type { ServerResponse } from 'node:http'
import { decodeJwt, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import type { HostileUpstream, Lying } from '../../support/upstreams/hostile-upstream.ts'

// What providers say that prove nobody, and what the person then reads.

/** `invalid`: the answer could not be accepted. `unavailable`: the provider does not work at the moment. */
export type Said = 'invalid' | 'unavailable'
export type Row = [title: string, lies: (upstream: HostileUpstream) => HostileUpstream['lies'], said?: Said]

const now = () => Math.floor(Date.now() / 1000)
const stranger = await generateKeyPair('RS256')
const ofCurve = await generateKeyPair('ES256')

/** Another token in place of the right one. */
const token = (make: (right: JWTPayload, upstream: HostileUpstream, signed: string) => unknown): Row[1] => {
  return (upstream) => ({
    async token({ body }) {
      const idToken = await make(decodeJwt(body.id_token), upstream, body.id_token)
      return { ...body, id_token: idToken }
    },
  })
}
/** Other claims, signed as the right ones are. Undefined takes one away. */
const claims = (other: () => object) =>
  token((right, { sign }) => sign(JSON.parse(JSON.stringify({ ...right, ...other() })) as object))
/** Another head of the token, signed by a stranger. */
const head = (header: (upstream: HostileUpstream) => object) =>
  token((right, upstream) => upstream.sign(right, header(upstream), stranger.privateKey))
const says =
  (what: keyof HostileUpstream['lies'], told: Lying): Row[1] =>
  () => ({ [what]: () => told })
/** Changes an object that it answers with. */
const other = (what: keyof HostileUpstream['lies'], changes: (upstream: HostileUpstream) => object): Row[1] => {
  return (upstream) => ({ [what]: ({ body }: { body: object }) => ({ ...body, ...changes(upstream) }) })
}
/** A text with a byte that UTF-8 does not have in the place of each `?`. */
const broken = (text: string) => Buffer.from([...Buffer.from(text)].map((byte) => (byte === 0x3f ? 0xff : byte)))

export const ofClaims: Row[] = [
  ['of another issuer', claims(() => ({ iss: 'https://evil.example' }))],
  ['of the issuer and a slash', token((right, { sign }) => sign({ ...right, iss: `${right.iss}/` }))],
  ['for another client', claims(() => ({ aud: 'other' }))],
  ['for nobody', claims(() => ({ aud: [] }))],
  ['for several, where another one asked', claims(() => ({ aud: ['roster', 'other'], azp: 'other' }))],
  ['for several, where nobody asked', claims(() => ({ aud: ['roster', 'other'] }))],
  ['with another nonce', claims(() => ({ nonce: 'another' }))],
  ['with the nonce in a list', token((right, { sign }) => sign({ ...right, nonce: [right['nonce']] }))],
  ['without a nonce', claims(() => ({ nonce: undefined }))],
  ['that is over', claims(() => ({ exp: now() - 600 }))],
  ['that never ends', claims(() => ({ exp: undefined }))],
  ['whose end is a text', claims(() => ({ exp: String(now() + 600) }))],
  ['that begins later', claims(() => ({ nbf: now() + 600 }))],
  ['without the time it was made', claims(() => ({ iat: undefined }))],
  ['without a subject', claims(() => ({ sub: undefined }))],
  ['with an empty subject', claims(() => ({ sub: '' }))],
  ['with a number for a subject', claims(() => ({ sub: 1 }))],
  ['with a subject of 256 characters', claims(() => ({ sub: 'a'.repeat(256) }))],
  ['with a subject with a byte order mark', claims(() => ({ sub: '\ufeffada' }))],
]

export const ofSignatures: Row[] = [
  ['without a signature', token((right) => new UnsecuredJWT(right).encode())],
  ['with `none` and a signature', token((_, __, signed) => withHead(signed, { alg: 'none', kid: 'one' }))],
  ['with the signature cut off', token((_, __, signed) => signed.slice(0, signed.lastIndexOf('.') + 1))],
  ['with other claims under the signature', token((right, _, signed) => withClaims(signed, { ...right, sub: 'root' }))],
  ['by the secret that both know', token((right, { secret }) => shared(right, Buffer.from(secret)))],
  ['by the public key as a secret', token((right, { jwk }) => shared(right, Buffer.from(JSON.stringify(jwk))))],
  ['by a stranger', head(() => ({}))],
  ['by a stranger, with the key in the head', head(({ jwk }) => ({ jwk }))],
  ['by a stranger, with the address of keys', head(({ url }) => ({ jku: `${url}/of-a-stranger`, kid: 'two' }))],
  ['by a stranger, with the address of a chain', head(({ url }) => ({ x5u: `${url}/of-a-stranger` }))],
  ['by a key of a path', head(() => ({ kid: '../../../../dev/null' }))],
  ['with what must be understood', token((right, { sign }) => sign(right, { crit: ['more'], more: true }))],
  [
    'by a curve in the place of RSA',
    token((right) => new SignJWT(right).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(ofCurve.privateKey)),
  ],
  ['in JSON', token((_, __, signed) => ({ payload: signed.split('.')[1], signatures: [] }))],
  ['that is no token', token(() => 'a.b.c')],
]

export const ofKeys: Row[] = [
  ['are none', says('keys', { keys: [] })],
  ['are no list', says('keys', { keys: { kty: 'RSA' } })],
  ['are secret ones', says('keys', { keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'one', alg: 'RS256' }] })],
  ['are for something else', other('keys', ({ jwk }) => ({ keys: [{ ...jwk, use: 'enc' }] }))],
  ['are two of a name', other('keys', ({ jwk }) => ({ keys: [jwk, { ...jwk, n: 'AQAB' }] }))],
  ['are not there', says('keys', (response) => void response.writeHead(404).end())],
  ['are no JSON', says('keys', 'keys')],
]

export const ofTokens: Row[] = [
  ['without an ID token', other('token', () => ({ id_token: undefined }))],
  ['with a list for the ID token', other('token', () => ({ id_token: ['a'] }))],
  ['without an access token', other('token', () => ({ access_token: undefined }))],
  ['of a kind that nobody knows', other('token', () => ({ token_type: 'mac' }))],
  ['with a line break in the access token', other('token', () => ({ access_token: 'a\r\nhost: b' })), 'unavailable'],
  ['that is a refusal', says('token', (response) => refuse(response))],
  ['that is null', says('token', 'null')],
  ['that is empty', says('token', '')],
  ['that is a page', says('token', (response) => void response.setHeader('content-type', 'text/html').end('<p>'))],
  ['that is in UTF-16', says('token', Buffer.from('{"access_token":"a"}', 'utf16le'))],
  ['that hangs up', says('token', (response) => void response.socket!.destroy()), 'unavailable'],
  ['that names the ID token twice', () => ({ token: ({ body }) => twice(body, 'id_token', 'a.b.c') })],
]

export const ofUserinfo: Row[] = [
  ['of another person', other('userinfo', () => ({ sub: 'another' }))],
  ['of the same person in capitals', () => ({ userinfo: ({ body }) => ({ ...body, sub: body.sub.toUpperCase() }) })],
  ['of nobody', other('userinfo', () => ({ sub: undefined }))],
  ['of two people', () => ({ userinfo: ({ body }) => twice(body, 'sub', 'another') })],
  ['with bytes that are no text', () => ({ userinfo: ({ body }) => broken(JSON.stringify({ ...body, sub: 'ad?' })) })],
  ['that refuses', says('userinfo', (response) => void response.writeHead(401).end())],
  [
    'that is a token',
    says('userinfo', (response) => void response.setHeader('content-type', 'application/jwt').end('a')),
  ],
  ['that is a list', says('userinfo', '[]')],
]

/** They show before anybody has signed in there, and if they come later. */
export const ofDescriptions: Row[] = [
  ['names another issuer', other('description', () => ({ issuer: 'https://evil.example' })), 'unavailable'],
  ['names none', other('description', () => ({ issuer: undefined })), 'unavailable'],
  ['is a list', says('description', '[]'), 'unavailable'],
  ['is no JSON', says('description', '{"issuer":'), 'unavailable'],
  ['is not there', says('description', (response) => void response.writeHead(404).end()), 'unavailable'],
]

const privateAddresses: [url: string, said: Said][] = [
  ['http://10.11.12.13/a', 'unavailable'],
  ['http://169.254.169.254/latest', 'unavailable'],
  ['http://[::ffff:10.0.0.1]/a', 'unavailable'],
  ['file:///etc/hosts', 'invalid'],
]

/** A description that leads Roster itself to an address of the network within. */
export const ofPrivateAddresses: Row[] = ['token_endpoint', 'jwks_uri', 'userinfo_endpoint'].flatMap((name) =>
  privateAddresses.map(([url, said]): Row => [`${name} ${url}`, other('description', () => ({ [name]: url })), said]),
)

function withHead(signed: string, header: object) {
  return [Buffer.from(JSON.stringify(header)).toString('base64url'), ...signed.split('.').slice(1)].join('.')
}

function withClaims(signed: string, changed: object) {
  const [header, , signature] = signed.split('.')
  return [header, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.')
}

function shared(right: JWTPayload, secret: Buffer) {
  return new SignJWT(right).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(secret)
}

function refuse(response: ServerResponse) {
  response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant<b>"}')
}

/** An object in JSON in which a name stands twice: the later one is `last`. */
function twice(body: object, name: string, last: string) {
  return JSON.stringify(body).replace(/}$/, `,"${name}":"${last}"}`)
}
