import { request as requestHttp1 } from 'node:http'
import { connect, type IncomingHttpHeaders } from 'node:http2'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { method } from '#lib/rpc/methods'
import { frameOf } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const watch = method('roster.notifier.v1.EventService.WatchEvents')
let gateway: TestGateway
let asked = 0

beforeAll(async () => {
  // Nothing happens, and so no message comes.
  const quiet = () => (asked++, new Promise<never>(() => {}))
  gateway = await startTestGateway({ [watch.subject]: quiet })
})
afterAll(() => gateway.stop())

const web = ['application/grpc-web+proto', 'application/grpc-web-text+proto']
const types = [...web, 'application/connect+proto', 'application/connect+json']

// A service that does not answer ends the stream after ten seconds.
test.each([
  ...types.map((type) => [type, 'HTTP/1.1', overHttp1] as const),
  ...['application/grpc+proto', ...types].map((type) => [type, 'HTTP/2', overHttp2] as const),
])(
  'the head of a quiet stream of %s over %s comes before any message',
  { timeout: 8_000 },
  async (type, _version, open) => {
    const message = frameOf(Buffer.from(type.includes('json') ? '{"cursor":"mine"}' : '\x0a\x04mine'))
    const body = type.includes('text') ? message.toString('base64') : message
    const before = asked
    const head = await open({ authorization: 'Bearer admin', 'content-type': type }, body)
    expect(head).toMatchObject({ 'content-type': type, 'x-request-id': expect.any(String) })
    expect(head).not.toHaveProperty('grpc-status')
    await expect.poll(() => asked).toBe(before + 1)
  },
)

function overHttp1(headers: Record<string, string>, body: string | Buffer): Promise<IncomingHttpHeaders> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingHttpHeaders>()
  const request = requestHttp1(gateway.url + watch.path, { method: 'POST', headers })
  request.on('response', (response) => resolve(response.headers)).on('error', reject)
  request.end(body)
  onTestFinished(() => void request.destroy())
  return promise
}

function overHttp2(headers: Record<string, string>, body: string | Buffer): Promise<IncomingHttpHeaders> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingHttpHeaders>()
  const session = connect(gateway.url).on('error', reject)
  const stream = session.request({ ':method': 'POST', ':path': watch.path, ...headers })
  stream.on('response', resolve).on('error', () => {})
  stream.end(body)
  onTestFinished(() => session.destroy())
  return promise
}
