import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { afterEach, expect, test, vi } from 'vitest'
import { freePort } from '../../deploy/local/ports.ts'
import { MetricsPort, type PortOptions } from './metrics-port.ts'

const begun: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const stop of begun.splice(0).toReversed()) await stop()
})

async function start(options: Partial<PortOptions> = {}) {
  const port = await freePort(0)
  const provider = new MeterProvider({ readers: [new MetricsPort([], { host: '127.0.0.1', port, ...options })] })
  begun.push(() => provider.shutdown())
  return { port, url: `http://127.0.0.1:${port}/metrics`, meter: provider.getMeter('test') }
}

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  begun.push(() => void socket.destroy())
  return socket
}

test('however many ask at a time, the metrics are read once, and all get them', async () => {
  const { url, meter } = await start()
  const asked = vi.fn()
  const goOn = Promise.withResolvers<void>()
  meter.createObservableGauge('example').addCallback(async (result) => {
    asked()
    await goOn.promise
    result.observe(7)
  })
  const answers = Array.from({ length: 10 }, async () => (await fetch(url)).text())
  await vi.waitFor(() => expect(asked).toHaveBeenCalled())
  // The others have come by the time of this answer.
  expect((await fetch(url.replace('metrics', 'other'))).status).toBe(404)
  goOn.resolve()
  for (const text of await Promise.all(answers)) expect(text).toMatch(/^example(\{.*\})? 7$/m)
  expect(asked).toHaveBeenCalledTimes(1)
  expect(await (await fetch(url)).text()).toContain('example')
  expect(asked).toHaveBeenCalledTimes(2)
})

test('no more connections than allowed are kept, and the port works again after them', async () => {
  const { port, url } = await start({ mostConnections: 3, patience: 500 })
  await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200))
  const silent = Array.from({ length: 8 }, () => open(port))
  const ended = silent.map((socket) => once(socket, 'close'))
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  // Five are refused at once. Three have their time.
  await Promise.race(ended)
  await vi.waitFor(() => expect(silent.filter(({ closed }) => !closed)).toHaveLength(3), { interval: 5 })
  await Promise.all(ended)
  await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200))
})

test.each([
  ['says nothing', '', ''],
  ['sends its head a letter at a time', 'GET /metrics HTTP/1.1\r\nx: ', 'x'],
  ['sends a body without end', 'GET /metrics HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
  ['asks again and again', '', 'GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n'],
])('a client that %s is cut off', async (_, first, more) => {
  const { port } = await start({ patience: 300 })
  const socket = open(port)
  socket.write(first)
  const going = setInterval(() => socket.write(more), 10)
  begun.push(() => clearInterval(going))
  socket.resume()
  // `once` of node:events would take a reset, which is one of the ways to be cut off, for a failure.
  await new Promise((resolve) => socket.once('close', resolve))
})

test('a connection has one request, and a client that does not read is cut off', async () => {
  const { port, meter } = await start({ patience: 300 })
  const gauge = meter.createObservableGauge('large')
  gauge.addCallback((result) => {
    for (let n = 0; n < 50_000; n++) result.observe(n, { label: `${'x'.repeat(200)}${n}` })
  })
  const socket = open(port).pause()
  const request = 'GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n'
  socket.write(request + request)
  await once(socket, 'connect')
  await new Promise((resolve) => setTimeout(resolve, 0))
  const came = await buffer(socket).catch(() => Buffer.alloc(0))
  expect(came.toString().match(/HTTP\/1.1 /g) ?? []).toHaveLength(1)
})

test.each(['POST', 'PUT', 'DELETE'])('%s is refused', async (method) => {
  const { url } = await start()
  await vi.waitFor(async () => expect((await fetch(url, { method })).status).toBe(405))
})
