import { connect } from 'node:net'
import { duplexPair } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from '../testing/certificate.ts'
import { startTestGateway } from '../testing/test-gateway.ts'

/** Together more than the kernel holds for a client that does not read. */
const [answers, length] = [14, 900_000]

test('a request whose head and body are two records of TLS is answered, also where its client reads late', async () => {
  const { cert, key, ca, remove } = makeCertificate()
  onTestFinished(remove)
  let begun = 0
  const operations = {
    'roster.users.v1.UserService.GetUser': () => {
      begun++
      return { user: { userId: 'x'.repeat(length) } }
    },
    'roster.users.v1.UserService.SetEmail': () => ({ verificationCode: 'set' }),
  }
  const gateway = await startTestGateway(operations, { TLS_CERT_FILE: cert, TLS_KEY_FILE: key })
  onTestFinished(() => gateway.stop())

  const wire = connect({ port: gateway.port, host: '127.0.0.1', noDelay: true })
  onTestFinished(() => void wire.destroy())
  const [near, far] = duplexPair()
  wire.pipe(far).pipe(wire)
  const client = connectTls({ socket: near, ca, servername: 'localhost' })
  let text = ''
  client.on('data', (bytes: Buffer) => (text += bytes.toString('latin1').replaceAll('x', '')))
  await new Promise((resolve) => client.once('secureConnect', resolve))
  /** Sends each part as a record of its own, all of them at once. */
  const send = async (...parts: string[]) => {
    wire.cork()
    for (const part of parts) {
      const before = wire.writableLength
      client.write(part)
      await expect.poll(() => wire.writableLength, { interval: 1 }).toBeGreaterThan(before)
    }
    wire.uncork()
  }

  const ask = (line: string, more = '') => `${line} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer admin\r\n${more}\r\n`
  wire.unpipe(far).pause()
  await send(ask('GET /v2/users/u').repeat(answers))
  // Once no answer begins any more, the gateway waits for its client to read.
  let seen = -1
  await expect.poll(() => begun > 0 && seen === (seen = begun), { interval: 300, timeout: 10_000 }).toBe(true)
  expect(begun).toBeLessThan(answers)
  const body = '{"email":"a@b.c"}'
  await send(
    ask('POST /v2/users/u/email', `content-type: application/json\r\ncontent-length: ${body.length}\r\n`),
    body,
  )
  // The gateway has read both by the time that it has answered another client.
  const other = connectTls({ port: gateway.port, host: '127.0.0.1', servername: 'localhost', ca })
  other.end('GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n').resume()
  await new Promise((resolve) => other.once('close', resolve))
  wire.pipe(far)
  const heads = () => text.match(/HTTP\/1\.1 \d+/g)
  await expect.poll(() => heads()?.length, { timeout: 20_000 }).toBe(answers + 1)
  expect(new Set(heads())).toEqual(new Set(['HTTP/1.1 200']))
  expect(text).toContain('"set"')
})

test('a connection over TLS that sends without end while a call is under way is cut off', async () => {
  const { cert, key, ca, remove } = makeCertificate()
  onTestFinished(remove)
  const operations = { 'roster.users.v1.UserService.GetUser': () => new Promise<never>(() => {}) }
  const gateway = await startTestGateway(operations, { TLS_CERT_FILE: cert, TLS_KEY_FILE: key })
  onTestFinished(() => gateway.stop())
  const client = connectTls({ port: gateway.port, host: '127.0.0.1', servername: 'localhost', ca })
  const ask = 'GET /v2/users/u HTTP/1.1\r\nhost: a\r\nauthorization: Bearer admin\r\n\r\n'
  client.on('error', () => {}).resume()
  for (let times = 0; times < 1_000; times++) client.write(ask)
  await new Promise((resolve) => client.once('close', resolve))
  await expect.poll(() => gateway.log.filter(({ msg }) => msg === 'call')).toMatchObject([{ reason: 'CANCELLED' }])
})
