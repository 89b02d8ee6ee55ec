// What a stranger sends to each parser in front of the token, each in the dearest form for its bytes that we know.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { frame, head, hello, literal, resetRequests } from '../../services/gateway/testing/raw-frames.ts'

/** A flood over some connections, each opened again once it is closed. */
export interface Flood {
  parser: string
  name: string
  connections: number
  /** What a connection sends first. */
  first: Buffer
  /** What it sends further: on and on, or (`answered`) again after each answer. Empty: it waits to be closed. */
  further: Buffer
  answered?: boolean
  /** Over TLS: the bytes are those of the handshake itself. */
  tls?: boolean
}

const none = Buffer.alloc(0)
const repeated = (unit: Buffer, bytes = 64 * 1024) => Buffer.alloc(Math.floor(bytes / unit.length) * unit.length, unit)

/** A flood over HTTP/1.1: a request after each answer. */
function requests(parser: string, name: string, line: string, headers: Record<string, string>, body = ''): Flood {
  const length = body ? { 'content-length': String(body.length) } : {}
  const lines = Object.entries({ host: 'a', ...headers, ...length }).map(([key, value]) => `${key}: ${value}\r\n`)
  const unit = Buffer.from(`${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`, 'latin1')
  return { parser, name, connections: 8, first: unit, further: unit, answered: true }
}

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const json = { 'content-type': 'application/json' }
const text = (value: object | string) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

function jwt(header: object, payload: object, key?: ReturnType<typeof generateKeyPairSync>['privateKey']): string {
  const signed = [header, payload].map((part) => text(part).toString('base64url')).join('.')
  const signature = key ? sign('sha256', text(signed), { key, dsaEncoding: 'ieee-p1363' }) : Buffer.alloc(64)
  return `${signed}.${signature.toString('base64url')}`
}

/** A proof by a key that the stranger made: right in all but what it is for. */
function proof(): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const claims = { jti: randomUUID(), htm: 'POST', htu: 'http://localhost:8080/oauth/v2/token' }
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) }
  return jwt(header, { ...claims, iat: Math.floor(Date.now() / 1000) }, privateKey)
}

const large = (unit: string, bytes = 15_000) => unit.repeat(Math.floor(bytes / unit.length))
const manyHeaders = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`x-${n}`, 'y'.repeat(20)]))
// An entry of 4,000 bytes that the table remembers, and 12,000 bytes that name it.
const bomb = Buffer.concat([
  text('@'),
  Buffer.from([3]),
  text('x-y'),
  Buffer.from([0x7f, 0xa1, 0x1e]),
  Buffer.alloc(4_000, 'y'),
])
const bombs = frame(
  1,
  5,
  1,
  Buffer.concat([Buffer.from([0x82, 0x84, 0x86, 0x41, 1, 0x61]), bomb, Buffer.alloc(12_000, 0xbe)]),
)
const assertion = {
  iss: 'a',
  sub: 'a',
  aud: 'http://localhost:8080',
  exp: 4e9,
  iat: 1,
  jti: 'x',
  more: large('y', 9_000),
}

export const floods: Flood[] = [
  flood('streams opened and reset, in one write', 8, Buffer.concat([hello, resetRequests(2_500, 'cancelled')])),
  flood('the same, 2 MB over each of 20 connections', 20, Buffer.concat([hello, resetRequests(80_000, 'cancelled')])),
  flood('streams that bad frames reset', 8, Buffer.concat([hello, resetRequests(2_500, 'broken')])),
  flood('heads that no request may have', 8, hello, repeated(frame(1, 5, 1, Buffer.from([0x82])))),
  flood('pings', 8, hello, repeated(frame(6, 0, 0, Buffer.alloc(8)))),
  flood('settings', 8, hello, repeated(frame(4, 0, 0))),
  flood('priorities', 8, hello, repeated(frame(2, 0, 1, Buffer.from([0, 0, 0, 3, 1])))),
  flood('fields named a thousand times (HPACK)', 8, Buffer.concat([hello, bombs])),
  flood(
    'a head without an end',
    8,
    Buffer.concat([hello, frame(1, 1, 1, literal('x', 'y'))]),
    repeated(frame(9, 0, 1, none)),
  ),
  flood('requests for a page', 8, Buffer.concat([hello, ...Array.from({ length: 90 }, (_, n) => head(n))])),
  { ...flood('requests in a row', 8, none, repeated(text('GET / HTTP/1.1\r\n\r\n'))), parser: 'HTTP/1.1' },
  requests('HTTP/1.1', 'heads of 400 fields', 'GET /nowhere', manyHeaders),
  { ...flood('beginnings of handshakes', 8, none), parser: 'TLS', tls: true },
  requests('JSON', 'a nested text', 'POST /v2/sessions', json, large('{"a":')),
  requests('JSON', 'a long list', 'POST /v2/sessions', json, `{"loginName":[${large('0,')}0]}`),
  requests(
    'protobuf',
    'unknown fields',
    'POST /roster.users.v1.SessionService/CreateSession',
    { 'content-type': 'application/proto' },
    large('\x98\x3f\x01'),
  ),
  requests(
    'gRPC-web text',
    'a message of unknown fields',
    'POST /roster.users.v1.SessionService/CreateSession',
    { 'content-type': 'application/grpc-web-text' },
    Buffer.from(
      `\0\0\0${String.fromCharCode(11_250 >> 8, 11_250 & 255)}${large('\x98\x3f\x01', 11_250)}`,
      'latin1',
    ).toString('base64'),
  ),
  requests('forms', 'empty fields', 'POST /oauth/v2/token', form, large('a=&')),
  requests('cookies', 'many of them', 'GET /ui/account', { cookie: large('a=b; ') }),
  requests('JWT', 'a token that is none', 'GET /auth/v1/users/me', {
    authorization: `Bearer ${jwt({ alg: 'RS256' }, { a: large('y', 10_000) })}`,
  }),
  requests(
    'JWT',
    'an assertion of a client',
    'POST /oauth/v2/token',
    form,
    `grant_type=client_credentials&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer&client_assertion=${jwt({ alg: 'RS256', kid: 'x' }, assertion)}`,
  ),
  requests(
    'DPoP',
    'a proof of a client that is none',
    'POST /oauth/v2/token',
    { ...form, dpop: proof() },
    'grant_type=client_credentials&client_id=a&client_secret=b',
  ),
]

function flood(name: string, connections: number, first: Buffer, further = none): Flood {
  return { parser: 'HTTP/2', name, connections, first, further }
}

/** A short name for a process's arguments. */
export const keyOf = ({ parser, name }: Flood) =>
  createHash('sha256')
    .update(parser + name)
    .digest('hex')
    .slice(0, 8)
