import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { create, toBinary } from '@bufbuild/protobuf'
import { TimestampSchema } from '@bufbuild/protobuf/wkt'
import { afterEach, describe, expect, inject, test } from 'vitest'
import type { Operation } from '../examples/contract.ts'
import { admin, ok, unique } from '../examples/people.ts'
import { factsOf } from './clients/call.ts'
import { call as json } from './clients/encodings.ts'
import { frame, readFrames, readTrailers } from './clients/grpc-web-text.ts'
import { readAnswer } from './clients/json.ts'
import { decodeStatus, describeOperation, grpcPath } from './clients/messages.ts'

const { url, adminToken } = inject('roster')
const authorization = `Bearer ${adminToken}`

async function send(verb: string, path: string, body?: string | Uint8Array<ArrayBuffer>, type = 'application/json') {
  return readAnswer(
    await fetch(url + path, {
      method: verb,
      headers: { authorization, 'content-type': type },
      ...(body !== undefined && { body }),
    }),
  )
}

async function sendFrame(operation: Operation, body: Uint8Array) {
  const headers = { authorization, 'content-type': 'application/grpc-web+proto' }
  const response = await fetch(url + grpcPath(operation), { method: 'POST', headers, body: new Uint8Array(body) })
  expect(response.status).toBe(200)
  const trailers = readTrailers(readFrames(Buffer.from(await response.arrayBuffer())))
  return decodeStatus(Buffer.from(trailers['grpc-status-details-bin'] ?? '', 'base64'))
}

// The process must survive any input.
afterEach(async () => {
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  ok(await json('GetMyOrganization', {}, admin()))
})

describe('a JSON body that is no such request is INVALID_ARGUMENT, and the error names the place', () => {
  const machines = '/management/v1/users/machine'
  const email = '/v2/users/unknown/email'
  const cases: [string, string, string, string[]][] = [
    ['a text for a number', 'PUT /admin/v1/idps/unknown', '{"name":"N","autoRegister":"yes"}', ['autoRegister']],
    ['a number for a text', `POST ${machines}`, '{"userName":5,"name":"M"}', ['userName']],
    ['an object for a text', `POST ${machines}`, '{"userName":{"a":1},"name":"M"}', ['userName']],
    ['an unknown field', `POST ${machines}`, '{"userName":"u","name":"M","nickname":"x"}', ['nickname']],
    [
      'an unknown enum value',
      `POST ${machines}`,
      '{"userName":"u","name":"M","accessTokenType":"SAML"}',
      ['accessTokenType'],
    ],
    ['two members of a oneof', `POST ${email}`, '{"email":"a@example.com","isVerified":true,"returnCode":{}}', []],
    ['a field twice', `POST ${machines}`, '{"userName":"u","userName":"v","name":"M"}', ['userName']],
    [
      'a field twice in both spellings',
      `POST ${machines}`,
      '{"userName":"u","user_name":"v","name":"M"}',
      ['userName'],
    ],
    [
      'an inner field twice',
      `POST ${email}`,
      '{"email":"a@example.com","sendCode":{"urlTemplate":"a","urlTemplate":"b"}}',
      ['sendCode.urlTemplate'],
    ],
    ['half a surrogate pair', `POST ${machines}`, '{"userName":"\\ud800","name":"M"}', ['userName']],
    ['another id than the path has', `POST ${email}`, '{"userId":"other","email":"a@example.com"}', ['userId']],
    ['an array', `POST ${machines}`, '[]', []],
    ['null', `POST ${machines}`, 'null', []],
    ['a comment', `POST ${machines}`, '{"userName":"u" /* x */}', []],
    ['half an object', `POST ${machines}`, '{"userName":"u"', []],
    ['two objects', `POST ${machines}`, '{}{}', []],
    ['deep nesting', `POST ${machines}`, '['.repeat(100_000), []],
  ]

  test.each(cases)('%s', async (_, route, body, named) => {
    const [verb, path] = route.split(' ') as [string, string]
    const answer = await send(verb, path, body)
    const { code, reason, fields, metadata } = factsOf(answer)
    expect({ http: answer.http, code, reason }).toEqual({ http: 400, code: 3, reason: 'REQUEST_MALFORMED' })
    if (named.length > 0) expect(fields).toEqual(named)
    else expect(fields.length + Object.keys(metadata).length).toBeGreaterThan(0)
  })

  test('malformed UTF-8, even in a field that the operation ignores', async () => {
    const body = Buffer.concat([Buffer.from('{"userName":"'), Buffer.from([0xc3, 0x28]), Buffer.from('","name":"M"}')])
    expect(factsOf(await send('POST', machines, body))).toMatchObject({ code: 3, reason: 'REQUEST_MALFORMED' })
  })

  test('both spellings of fields, numbers for enum values and null for a missing field are accepted', async () => {
    const body = { user_name: unique('machine'), name: 'M', access_token_type: 1, description: null }
    expect((await send('POST', machines, JSON.stringify(body))).http).toBe(200)
  })

  test('answers have lowerCamelCase fields, 64-bit numbers as text, RFC 3339 times, and no defaults', async () => {
    const { ok: answer } = await send('POST', machines, JSON.stringify({ userName: unique('machine'), name: 'M' }))
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    expect(answer).toEqual({
      userId: expect.any(String),
      details: { sequence: '1', creationDate: time, changeDate: time, resourceOwner: 'default' },
    })
  })
})

describe('an unknown path has the same form of error', () => {
  test.each([
    ['GET', '/v2/nothing', 404, 5, 'PATH_NOT_FOUND'],
    ['GET', '/', 404, 5, 'PATH_NOT_FOUND'],
    ['POST', '/v2/users//email', 404, 5, 'PATH_NOT_FOUND'],
    ['PUT', '/v2/users/human', 405, 12, 'METHOD_NOT_ALLOWED'],
    ['GET', '/management/v1/users/machine', 405, 12, 'METHOD_NOT_ALLOWED'],
  ])('%s %s: %d', async (verb, path, http, code, reason) => {
    const answer = await send(verb, path)
    expect({ http: answer.http, code: answer.error!.code, reason: factsOf(answer).reason }).toEqual({
      http,
      code,
      reason,
    })
  })

  test.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
    'the content type %s: 415',
    async (type) => {
      const answer = await send('POST', '/management/v1/users/machine', '{}', type)
      expect({ http: answer.http, code: answer.error!.code }).toEqual({ http: 415, code: 3 })
    },
  )

  test.each(['/roster.users.v1.InternalService/LookupUser', '/roster.users.v1.UserService/Nothing', '/a.b/C'])(
    '%s is no known method in gRPC-web, and no known path in JSON',
    async (path) => {
      const headers = { authorization, 'content-type': 'application/grpc-web+proto' }
      const response = await fetch(url + path, { method: 'POST', headers, body: new Uint8Array(5) })
      const trailers = readTrailers(readFrames(Buffer.from(await response.arrayBuffer())))
      expect(trailers['grpc-status']).toBe('12')
      expect((await send('POST', path, '{}')).http).toBe(404)
    },
  )
})

describe('bytes that are no valid message', () => {
  test.each([
    ['a length beyond the end', [0x0a, 0x7f, 0x61]],
    ['an unknown wire type', [0x0f]],
    ['half a varint', [0x20, 0xff]],
    ['text that is no UTF-8', [0x0a, 0x02, 0xc3, 0x28]],
    ['a text where a number should be', [0x22, 0x01, 0x61]],
  ])('%s: INVALID_ARGUMENT', async (_, bytes) => {
    expect((await sendFrame('AddMachineUser', frame(Uint8Array.from(bytes)))).code).toBe(3)
  })

  test.each([
    ['a number of seconds that no clock shows', 1n << 62n],
    ['a time before the first year', -(1n << 40n)],
    ['a time after the last year', 1n << 40n],
  ])('%s: INVALID_ARGUMENT', async (_, seconds) => {
    const desc = describeOperation('AddPersonalAccessToken').input
    const time = create(TimestampSchema, { seconds })
    const message = create(desc, { userId: 'admin-machine', expirationDate: time })
    expect((await sendFrame('AddPersonalAccessToken', frame(toBinary(desc, message)))).code).toBe(3)
  })

  test.each([
    ['nothing', []],
    ['half a frame head', [0, 0]],
    ['a frame longer than the body', [0, 0, 0, 0, 9, 1]],
    ['a frame of 4 GiB', [0, 255, 255, 255, 255]],
    ['a trailer', [0x80, 0, 0, 0, 0]],
    ['two frames', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
  ])('%s: no INTERNAL', async (_, bytes) => {
    expect([3, 8, 12]).toContain((await sendFrame('AddMachineUser', Uint8Array.from(bytes))).code)
  })

  test.each([
    '\r\n\r\n',
    'GARBAGE\r\n\r\n',
    'GET / HTTP/1.1\r\nbad header\r\n\r\n',
    '\x16\x03\x01\x02\x00',
    'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n',
  ])('only the connection that begins with %j ends', async (bytes) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port || 80), hostname)
    socket.on('error', () => {})
    socket.write(bytes)
    setTimeout(() => socket.end(), 200)
    await text(socket).catch(() => '')
  })
})
