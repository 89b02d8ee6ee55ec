import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

let gateway: TestGateway
beforeAll(async () => void (gateway = await startTestGateway({}, { PUBLIC_REQUEST_BYTES: '1024' })))
afterAll(() => gateway.stop())

const open = () => connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true })
const head = (path: string, framing: string) =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`
const later = 'x'.repeat(2_000_000)

test.each([
  ['/v2/sessions', 'content-length: 2000000', '413'],
  ['/v2/users/u1/email', 'content-length: 2000000', '401'],
  ['/v2/users/u1/email', 'transfer-encoding: chunked', '401'],
  ['/nope', 'content-length: 2000000', '404'],
])(
  'an answer at %s that leaves before the body (%s) is whole, and ends the connection',
  async (path, framing, code) => {
    const socket = open()
    socket.write(head(path, framing) + (framing.includes('chunked') ? '1e8480\r\n' : ''))
    await once(socket, 'readable')
    // What comes after the answer causes no reset.
    socket.write(later)
    // To iterate over the socket would destroy it at its end.
    let answer = ''
    socket.on('data', (bytes: Buffer) => (answer += bytes.toString()))
    await once(socket, 'end')
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${code} [^]*connection: close\r\n[^]*}$`, 'i'))
    socket.end(framing.includes('chunked') ? '\r\n0\r\n\r\n' : '')
    await once(socket, 'close')
  },
)

test('a refused request that came whole leaves the connection open', async () => {
  const socket = open()
  for (const path of ['/v2/users/u1/email', '/nope']) {
    socket.write(`${head(path, 'content-length: 2')}{}`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 40[14] [^]*connection: keep-alive\r\n/i)
  }
  socket.destroy()
})
