import { describe, expect, test } from 'vitest'
import { type CodeName, codes, RosterError } from '#lib/errors'
import { method } from '#lib/rpc/methods'
import { decode, encode, reasonOf } from '../../testing/raw-calls.ts'
import { readConnectError } from '../../testing/test-client.ts'
import { recordingGateway } from '../../testing/recording-gateway.ts'

const users = 'roster.users.v1.UserService'
const setEmail = method(`${users}.SetEmail`)
const admin = { authorization: 'Bearer admin' }
const json = { ...admin, 'content-type': 'application/json' }
const versioned = { 'connect-protocol-version': '1' }
const proto = { ...admin, 'content-type': 'application/proto' }
const request = { userId: 'u', email: 'a@b.c' }
const bytes = encode(setEmail, request)
const services = recordingGateway(setEmail)
const { ask } = services

describe('a call by POST', () => {
  test.each([
    ['proto', proto],
    ['proto with a version', { ...proto, 'connect-protocol-version': '1' }],
    ['proto in capitals', { ...proto, 'content-type': 'Application/Proto' }],
  ])('in %s has the message as its body, in both directions', async (_name, headers) => {
    services.answer = () => ({ verificationCode: 'C', details: { sequence: '7' } })
    const { status, headers: got, body } = await ask(setEmail.path, { headers, body: bytes })
    expect([status, got['content-type'], got['etag']]).toEqual([200, 'application/proto', '"7"'])
    expect(decode(setEmail, body)).toEqual(services.answer())
    expect(services.received[0]!.request).toEqual(request)
    expect(got).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  })

  test.each([
    ['JSON', json],
    ['JSON with its charset', { ...json, 'content-type': 'application/json; charset=utf-8' }],
  ])('in %s is read as strictly as at the HTTP path', async (_name, headers) => {
    services.answer = () => ({ verificationCode: 'C' })
    const { status, headers: got, body } = await ask(setEmail.path, { headers, body: JSON.stringify(request) })
    expect([status, got['content-type'], JSON.parse(body.toString())]).toEqual([
      200,
      'application/json',
      services.answer(),
    ])
    for (const text of ['{"userId":"u","userId":"v"}', '{"user_id":"u","userId":"u"}', '{"nope":1}', '[]', '{', '{}x'])
      expect(reasonOf(await ask(setEmail.path, { headers, body: text }))).toBe('REQUEST_MALFORMED')
  })

  test.each([
    ['another type', { ...admin, 'content-type': 'text/plain' }],
    ['a form', { ...admin, 'content-type': 'application/x-www-form-urlencoded' }],
    ['another charset', { ...admin, 'content-type': 'application/json; charset=latin1' }],
    ['a type that only begins alike', { ...admin, 'content-type': 'application/protobuf' }],
    ['two types', { ...admin, 'content-type': 'application/json, application/proto' }],
    ['the type of a stream', { ...admin, 'content-type': 'application/connect+proto' }],
    ['no type', admin],
  ])('with %s is refused with those that the path takes', async (_name, headers) => {
    const { status, headers: got } = await ask(setEmail.path, { headers, body: bytes })
    expect([status, got['accept-post']]).toEqual([
      415,
      'application/proto, application/json, application/grpc-web, application/grpc-web+proto, application/grpc-web-text, application/grpc-web-text+proto',
    ])
    expect(services.received).toEqual([])
  })

  test.each([
    ['another version', { ...proto, 'connect-protocol-version': '2' }, '', 400, 'PROTOCOL_VERSION_UNSUPPORTED'],
    ['no version in its header', { ...proto, 'connect-protocol-version': '' }, '', 400, 'PROTOCOL_VERSION_UNSUPPORTED'],
    ['a query besides its body', proto, '?message=&encoding=proto', 400, 'REQUEST_MALFORMED'],
    ['an unknown compression', { ...proto, 'content-encoding': 'br' }, '', 501, 'COMPRESSION_UNSUPPORTED'],
    ['two compressions', { ...proto, 'content-encoding': 'gzip, gzip' }, '', 501, 'COMPRESSION_UNSUPPORTED'],
    ['a compression that it does not have', { ...proto, 'content-encoding': 'gzip' }, '', 400, 'FRAME_MALFORMED'],
    [
      'a token in a cookie',
      { 'content-type': 'application/proto', cookie: 'authorization=Bearer admin' },
      '',
      401,
      'TOKEN_MISSING',
    ],
    [
      'a token in a trailer',
      { 'content-type': 'application/proto', 'trailer-authorization': 'Bearer admin' },
      '',
      401,
      'TOKEN_MISSING',
    ],
    [
      'no token, whatever its body',
      { 'content-type': 'application/json', 'connect-protocol-version': '9' },
      '',
      401,
      'TOKEN_MISSING',
    ],
  ])('with %s is refused', async (_name, headers, query, status, reason) => {
    const refused = await ask(setEmail.path + query, { headers, body: bytes })
    expect([refused.status, refused.headers['content-type'], reasonOf(refused)]).toEqual([
      status,
      'application/json',
      reason,
    ])
    expect('www-authenticate' in refused.headers).toBe(status === 401)
    expect(refused.headers['accept-encoding']).toBe(status === 501 ? 'gzip' : undefined)
    expect(services.received).toEqual([])
  })

  test.each(Object.keys(codes) as CodeName[])('that fails with %s gets the status of that code', async (code) => {
    const statuses = [499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401]
    services.answer = () => {
      throw new RosterError(code, 'A_REASON', 'Ü', { retryAfter: 2 })
    }
    const failed = await ask(setEmail.path, { headers: json, body: JSON.stringify(request) })
    expect(readConnectError(failed.body.toString())).toMatchObject({ code: codes[code], message: 'Ü' })
    expect([failed.status, failed.headers['retry-after']]).toEqual([statuses[codes[code] - 1], '2'])
  })

  test.each([
    ['type', 415, 'CONTENT_TYPE_UNSUPPORTED', 'POST', '', { 'content-type': 'application/connect+proto' }],
    ['type, with a version', 415, 'CONTENT_TYPE_UNSUPPORTED', 'POST', '', { ...versioned, 'content-type': 'a/b' }],
    ['verb', 405, 'METHOD_NOT_ALLOWED', 'PUT', '', { ...versioned, 'content-type': 'application/proto' }],
    ['verb, by GET', 405, 'METHOD_NOT_ALLOWED', 'GET', '?connect=v1&encoding=json&message=%7B%7D', {}],
  ])('of another %s is refused in the form of its errors', async (_name, status, reason, verb, query, headers) => {
    const body = verb === 'GET' ? {} : { body: bytes }
    const refused = await ask(setEmail.path + query, { method: verb, headers: { ...admin, ...headers }, ...body })
    expect([refused.status, refused.headers['content-type']]).toEqual([status, 'application/json'])
    expect(readConnectError(refused.body.toString())).toMatchObject({ details: [{ reason }] })
    expect(refused.headers[status === 405 ? 'allow' : 'accept-post']).toContain(status === 405 ? 'POST' : 'proto')
  })

  test('of an unknown or an internal method is not found, and unimplemented', async () => {
    for (const path of ['/a.B/C', '/roster.users.v1.InternalService/LookupUser']) {
      const { status, body } = await ask(path, { headers: proto, body: bytes })
      expect([status, readConnectError(body.toString())]).toEqual([404, expect.objectContaining({ code: 12 })])
    }
  })
})
