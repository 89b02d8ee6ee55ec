import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { method } from '#lib/rpc/methods'
import { type Answer, decode, encode } from '../../testing/raw-calls.ts'
import { frameOf, readConnectError } from '../../testing/test-client.ts'
import { recordingGateway } from '../../testing/recording-gateway.ts'

const watch = method('roster.notifier.v1.EventService.WatchEvents')
const admin = { authorization: 'Bearer admin' }
const proto = { ...admin, 'content-type': 'application/proto' }
const services = recordingGateway(watch)
const { ask } = services

describe('a stream', () => {
  const stream = (type: string, body: Buffer, headers = {}) =>
    ask(watch.path, { headers: { ...admin, 'content-type': `application/connect+${type}`, ...headers }, body })
  const empty = frameOf(Buffer.alloc(0))
  const long = { cursor: 'c', events: Array.from({ length: 200 }, (_, n) => ({ id: `event-${n}`, type: 'a.type' })) }
  const once = () => {
    if (services.received.length > 1)
      throw new RosterError('PERMISSION_DENIED', 'A_REASON', 'No more.', { retryAfter: 3 })
    return long
  }

  function framesOf(body: Buffer) {
    const frames: { flag: number; payload: Buffer }[] = []
    for (let at = 0; at < body.length; at = at + 5 + body.readUInt32BE(at + 1))
      frames.push({ flag: body[at]!, payload: body.subarray(at + 5, at + 5 + body.readUInt32BE(at + 1)) })
    return frames
  }
  const endOf = ({ body }: Answer) => {
    const { flag, payload } = framesOf(body).at(-1)!
    const { error, metadata } = JSON.parse(payload.toString()) as { error: object; metadata: object }
    const status = readConnectError(JSON.stringify(error)) as { code: number; details: { reason: string }[] }
    return { flag, code: status.code, reason: status.details[0]!.reason, metadata }
  }

  test.each(['proto', 'json'])('in %s is frames, and the last one says why it ended', async (type) => {
    services.answer = once
    const got = await stream(
      type,
      type === 'json' ? frameOf(Buffer.from('{"limit":7}')) : frameOf(encode(watch, { limit: 7 })),
    )
    expect([got.status, got.headers['content-type']]).toEqual([200, `application/connect+${type}`])
    expect(services.received[0]!.request).toEqual({ limit: 7 })
    const [first] = framesOf(got.body)
    expect(first!.flag).toBe(0)
    const message = type === 'json' ? JSON.parse(first!.payload.toString()) : decode(watch, first!.payload)
    expect(message).toMatchObject(long)
    expect(endOf(got)).toEqual({ flag: 2, code: 7, reason: 'A_REASON', metadata: { 'retry-after': ['3'] } })
  })

  test('has long messages compressed for a client that takes it', async () => {
    services.answer = once
    const got = await stream('proto', empty, { 'connect-accept-encoding': 'gzip' })
    const [first, last] = framesOf(got.body)
    expect([got.headers['connect-content-encoding'], first!.flag, last!.flag]).toEqual(['gzip', 1, 2])
    expect(decode(watch, gunzipSync(first!.payload))).toMatchObject(long)
  })

  test.each([
    ['no message', Buffer.alloc(0), {}, 12, 'ONE_MESSAGE_EXPECTED'],
    ['two messages', Buffer.concat([empty, empty]), {}, 12, 'ONE_MESSAGE_EXPECTED'],
    ['half a frame', empty.subarray(0, 3), {}, 3, 'FRAME_MALFORMED'],
    ['a frame that claims too much', frameOf(Buffer.alloc(0), 0, 0xffff_ffff), {}, 8, 'REQUEST_TOO_LARGE'],
    ['an end before its message', frameOf(Buffer.from('{}'), 2), {}, 3, 'FRAME_MALFORMED'],
    ['an unknown compression', empty, { 'connect-content-encoding': 'br' }, 12, 'COMPRESSION_UNSUPPORTED'],
    ['a compression without a name', frameOf(gzipSync(''), 1), {}, 13, 'COMPRESSION_UNNAMED'],
    ['another version', empty, { 'connect-protocol-version': '2' }, 3, 'PROTOCOL_VERSION_UNSUPPORTED'],
    ['a timeout that is none', empty, { 'connect-timeout-ms': 'soon' }, 3, 'TIMEOUT_MALFORMED'],
    ['a timeout that has passed', empty, { 'connect-timeout-ms': '0' }, 4, 'DEADLINE_EXCEEDED'],
    ['no token', empty, { authorization: '' }, 16, 'TOKEN_MISSING'],
  ])('with %s ends at once, with HTTP 200', async (_name, body, headers, code, reason) => {
    const got = await stream('proto', body, headers)
    expect(got.status).toBe(200)
    expect(framesOf(got.body)).toHaveLength(1)
    expect(endOf(got)).toMatchObject({ flag: 2, code, reason })
  })

  test('takes a compressed message, and no type of a single answer', async () => {
    services.answer = once
    const packed = frameOf(gzipSync(encode(watch, { limit: 9 })), 1)
    await stream('proto', packed, { 'connect-content-encoding': 'gzip' })
    // A call of an earlier test may come late.
    expect(services.received.map(({ request }) => request)).toContainEqual({ limit: 9 })
    const { status, headers } = await ask(watch.path, { headers: proto, body: encode(watch, {}) })
    expect([status, headers['accept-post']]).toEqual([415, expect.stringContaining('application/connect+proto')])
  })
})
