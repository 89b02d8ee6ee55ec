import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { method } from '#lib/rpc/methods'
import { decode, encode, reasonOf } from '../../testing/raw-calls.ts'
import { readConnectError } from '../../testing/test-client.ts'
import { recordingGateway } from '../../testing/recording-gateway.ts'

const users = 'roster.users.v1.UserService'
const setEmail = method(`${users}.SetEmail`)
const searchUsers = method(`${users}.SearchUsers`)
const watch = method('roster.notifier.v1.EventService.WatchEvents')
const admin = { authorization: 'Bearer admin' }
const proto = { ...admin, 'content-type': 'application/proto' }
const services = recordingGateway(setEmail, searchUsers)
const { ask } = services

describe('a call by GET', () => {
  const sent = { limit: 7 }
  const message = encode(searchUsers, sent)
  const text = encodeURIComponent(JSON.stringify(sent))
  const packed = gzipSync(message).toString('base64url')
  const get = (query: string, headers = {}) =>
    ask(`${searchUsers.path}?${query}`, { method: 'GET', headers: { ...admin, ...headers } })

  test.each([
    ['JSON', `connect=v1&encoding=json&message=${text}`],
    ['JSON without a version', `encoding=json&message=${text}`],
    ['JSON in base64', `base64=1&encoding=json&message=${Buffer.from(JSON.stringify(sent)).toString('base64url')}`],
    ['proto in base64', `connect=v1&base64=1&encoding=proto&message=${message.toString('base64url')}`],
    ['proto in padded base64', `connect=v1&base64=1&encoding=proto&message=${pad(message.toString('base64url'))}`],
    ['proto in escapes', `encoding=proto&message=${message.toString('hex').replace(/../g, '%$&')}`],
    ['compressed proto', `base64=1&compression=gzip&encoding=proto&message=${packed}`],
    [
      'proto without a compression',
      `encoding=proto&compression=identity&message=%20%07`.replace(
        '%20%07',
        message.toString('hex').replace(/../g, '%$&'),
      ),
    ],
  ])('has its message in the query: %s', async (_name, query) => {
    services.answer = () => ({ nextCursor: 'c' })
    const { status, headers, body } = await get(query, { 'idempotency-key': 'k', 'if-match': '*' })
    expect(status).toBe(200)
    expect(services.received).toMatchObject([{ request: sent }])
    expect(services.received[0]!.call).not.toHaveProperty('idempotencyKey')
    expect(headers).toMatchObject({ 'cache-control': 'no-store', vary: 'Origin, Accept-Encoding' })
    if (query.includes('json')) expect(JSON.parse(body.toString())).toEqual(services.answer())
    else expect(decode(searchUsers, body)).toEqual(services.answer())
  })

  test.each([
    ['no message', 'encoding=proto', 'REQUEST_MALFORMED'],
    ['no encoding', 'message=', 'REQUEST_MALFORMED'],
    ['another encoding', 'encoding=xml&message=', 'REQUEST_MALFORMED'],
    ['two messages', 'encoding=proto&message=&message=', 'REQUEST_MALFORMED'],
    ['two encodings', 'encoding=proto&encoding=json&message=', 'REQUEST_MALFORMED'],
    ['a parameter that Connect does not have', 'encoding=proto&message=&limit=1', 'REQUEST_MALFORMED'],
    ['a name in escapes', 'encoding=proto&m%65ssage=', 'REQUEST_MALFORMED'],
    ['half an escape', 'encoding=proto&message=%4', 'REQUEST_MALFORMED'],
    ['letters that are no base64', 'base64=1&encoding=proto&message=*A', 'REQUEST_MALFORMED'],
    ['base64 of the other alphabet', 'base64=1&encoding=proto&message=%2B%2F8', 'REQUEST_MALFORMED'],
    ['base64 with bits too many', 'base64=1&encoding=proto&message=QR', 'REQUEST_MALFORMED'],
    ['base64 with a wrong padding', 'base64=1&encoding=proto&message=QQ=', 'REQUEST_MALFORMED'],
    ['another base64', 'base64=true&encoding=proto&message=', 'REQUEST_MALFORMED'],
    ['another version', 'connect=v2&encoding=proto&message=', 'PROTOCOL_VERSION_UNSUPPORTED'],
    ['an unknown compression', 'compression=br&encoding=proto&message=', 'COMPRESSION_UNSUPPORTED'],
    ['a compression that it does not have', 'compression=gzip&encoding=proto&message=A', 'FRAME_MALFORMED'],
    ['bytes that are no message', 'encoding=proto&message=%ff', 'REQUEST_MALFORMED'],
    ['JSON that is no UTF-8', 'encoding=json&message=%22%ff%22', 'REQUEST_MALFORMED'],
  ])('with %s is refused', async (_name, query, reason) => {
    expect(reasonOf(await get(query))).toBe(reason)
    expect(services.received).toEqual([])
  })

  test('reports all faults of its query at once', async () => {
    const { body } = await get('encoding=xml&base64=2&x=1')
    const fieldViolations = ['x', 'encoding', 'base64', 'message'].map((field) => expect.objectContaining({ field }))
    expect(readConnectError(body.toString())).toMatchObject({ details: [{}, { fieldViolations }] })
  })

  test('must not have a body, and reports no faults to a client without a token', async () => {
    const query = `encoding=json&message=${text}`
    const withBody = await ask(`${searchUsers.path}?${query}`, {
      method: 'GET',
      headers: { ...admin, 'content-length': '2' },
      body: '{}',
    })
    expect(reasonOf(withBody)).toBe('BODY_NOT_ALLOWED')
    const anonymous = await ask(`${searchUsers.path}?encoding=xml`, { method: 'GET' })
    expect([anonymous.status, reasonOf(anonymous)]).toEqual([401, 'TOKEN_MISSING'])
  })

  test('is refused for a method that writes or streams, and so is any other verb', async () => {
    for (const { path } of [setEmail, watch]) {
      const { status, headers } = await ask(`${path}?encoding=json&message=%7B%7D`, { method: 'GET', headers: admin })
      expect([status, headers['allow']]).toEqual([405, 'POST, OPTIONS'])
    }
    for (const verb of ['DELETE', 'PUT', 'PATCH']) {
      const { status, headers } = await ask(searchUsers.path, { method: verb, headers: proto, body: message })
      expect([status, headers['allow']]).toEqual([405, 'GET, POST, HEAD, OPTIONS'])
    }
    expect(services.received).toEqual([])
  })
})

function pad(text: string): string {
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=')
}
