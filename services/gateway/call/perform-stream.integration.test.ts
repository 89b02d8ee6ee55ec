import { once } from 'node:events'
import { connect } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@bufbuild/protobuf'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { RosterError } from '#lib/errors'
import { method } from '#lib/rpc/methods'
import { streamingOver } from '../../../test/e2e/clients/streams.ts'
import { frameOf } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const subject = 'roster.notifier.v1.EventService.WatchEvents'
let gateway: TestGateway
let asked: JsonObject[]

afterEach(() => gateway?.stop())

/** A gateway whose service answers the n-th request, from 0, with the result of `answer`. */
async function start(answer: (n: number, request: JsonObject) => Promise<JsonObject>, environment = {}) {
  asked = []
  const operations = { [subject]: (request: JsonObject) => answer(asked.push(request) - 1, request) }
  gateway = await startTestGateway(operations, environment)
  return { token: 'admin', url: gateway.url }
}

const never = () => new Promise<never>(() => {})
const events = (n: number) => [{ id: `users-${n}` }]

describe.each(streamingOver('connect'))('a stream over $encoding', ({ open, encoding }) => {
  test('polls with the cursor of the last answer, and an answer with the same cursor is no message', async () => {
    const options = await start(async (n): Promise<JsonObject> => {
      if (n === 3) return never()
      return n === 1 ? { cursor: 'c0' } : { cursor: `c${n}`, events: events(n) }
    })
    const stream = open('WatchEvents', { cursor: 'mine', limit: 7 }, options)
    await vi.waitFor(() => expect(asked).toHaveLength(4), { timeout: 10_000 })
    expect(asked.map(({ cursor, limit }) => [cursor, limit])).toEqual([
      ['mine', 7],
      ['c0', 7],
      ['c0', 7],
      ['c2', 7],
    ])
    expect(stream.messages.map(({ cursor }) => cursor)).toEqual(['c0', 'c2'])
    stream.cancel()
  })

  test('whose service answers nothing new at once does not poll without a pause', async () => {
    const options = await start(async () => ({ cursor: 'same' }))
    const stream = open('WatchEvents', { cursor: 'same' }, options)
    await sleep(1100)
    expect(asked.length).toBeLessThan(7)
    stream.cancel()
  })

  test('waits for a service that goes away for a while, but fails at once where none is there at its beginning', async () => {
    const away = () => new RosterError('UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'Away.')
    const last = Promise.withResolvers<JsonObject>()
    const options = await start(async (n) => {
      if (n === 1 || n === 2) throw away()
      return n === 4 ? last.promise : { cursor: `c${n}` }
    })
    const stream = open('WatchEvents', {}, options)
    await vi.waitFor(() => expect(stream.messages.map(({ cursor }) => cursor)).toEqual(['c0', 'c3']), { timeout: 5000 })
    stream.cancel()
    last.resolve({ cursor: 'c4' })
    await gateway.services.get('notifier')!.stop()
    expect(await open('WatchEvents', {}, options).ended).toMatchObject({ code: 14 })
  })

  test('ends with the error of its service', async () => {
    const options = await start(async (n) => {
      if (n === 1) throw new RosterError('PERMISSION_DENIED', 'PERMISSION_DENIED', 'No.')
      return { cursor: 'c', events: events(1) }
    })
    const stream = open('WatchEvents', {}, options)
    expect(await stream.ended).toMatchObject({ code: 7, message: 'No.', details: [{ reason: 'PERMISSION_DENIED' }] })
    expect(stream.messages).toHaveLength(1)
  })

  test('polls no more once its client has gone', async () => {
    const answer = Promise.withResolvers<JsonObject>()
    const options = await start((n) => (n === 0 ? Promise.resolve({ cursor: 'c' }) : answer.promise))
    const stream = open('WatchEvents', {}, options)
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    stream.cancel()
    await vi.waitFor(() =>
      expect(gateway.log).toContainEqual(
        expect.objectContaining({ reason: 'CANCELLED', encoding: encoding.replace(/-(text|json)$/, '') }),
      ),
    )
    answer.resolve({ cursor: 'd' })
    await sleep(300)
    expect(asked).toHaveLength(2)
  })

  test('whose caller lost a right is polled anew with the rights of now, and drops the answer before', async () => {
    const answer = Promise.withResolvers<JsonObject>()
    const options = await start((n) => (n === 0 ? answer.promise : never()))
    const stream = open('WatchEvents', { cursor: 'mine' }, options)
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    gateway.backstage.callers.get('admin')!.instanceRoles = []
    gateway.nats.users.connection.publish('roster.callers.changed', 'admin-id')
    await gateway.nats.users.connection.flush()
    answer.resolve({ cursor: 'c', events: events(1) })
    expect(await stream.ended).toMatchObject({ code: 7 })
    expect(stream.messages).toEqual([])
  })

  test('ends when it is old', async () => {
    const options = await start(never, { STREAM_MAX_AGE_MS: '300' })
    const started = performance.now()
    const { ended } = open('WatchEvents', {}, options)
    expect(await ended).toMatchObject({ code: 14, details: [{ reason: 'STREAM_ENDED' }, {}] })
    expect(performance.now() - started).toBeLessThan(2000)
  })

  test('ends when the gateway stops, and does not hold it up', async () => {
    const options = await start((n) => (n === 0 ? Promise.resolve({ cursor: 'c' }) : never()))
    const stream = open('WatchEvents', {}, options)
    await vi.waitFor(() => expect(stream.messages).toHaveLength(1))
    const started = performance.now()
    await gateway.stopGateway()
    expect(await stream.ended).toMatchObject({ code: 14, details: [{ reason: 'STREAM_ENDED' }, {}] })
    expect(performance.now() - started).toBeLessThan(2000)
  })
})

// gRPC-web takes another way over HTTP/2 than over HTTP/1.1.
test.each(['application/grpc', 'application/grpc-web+proto'])('%s: who does not read is not read for', async (type) => {
  const text = 'x'.repeat(200_000)
  const options = await start(async (n) => ({ cursor: `c${n}`, events: [{ id: `users-${n}`, data: { text } }] }))
  const session = connect(options.url)
  onTestFinished(() => session.destroy())
  const stream = session.request({
    ':method': 'POST',
    ':path': method(subject).path,
    'content-type': type,
    te: 'trailers',
    authorization: 'Bearer admin',
  })
  stream.write(frameOf(new Uint8Array()))
  stream.end()
  await once(stream, 'response')
  await sleep(500)
  const stalled = asked.length
  expect(stalled).toBeLessThan(4)
  await sleep(500)
  expect(asked.length).toBe(stalled)
  stream.resume()
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(stalled + 10), { timeout: 5000 })
  stream.close()
})
