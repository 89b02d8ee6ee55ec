import { createSocket } from 'node:dgram'
import dns, { lookup } from 'node:dns'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startTestReceiver } from '#test/support/receiver'
import { destinations } from './destinations.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { resolve } from './resolve.ts'

const fetchWithin = (within: number) => guardedFetch(destinations.read('127.0.0.1'), { within })
const never = new AbortController().signal
let before: string[]
/** The names whose questions get no answer. */
let silentFor: string[]

// A name server that knows names in `example` and no others. It does not answer for names that begin with `silent`. A
// name that begins with `both` has two addresses.
beforeEach(async () => {
  before = dns.getServers()
  silentFor = []
  const server = createSocket('udp4')
  server.on('message', (query, { port, address }) => {
    const labels: string[] = []
    let at = 12
    for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    const question = query.subarray(12, at + 5)
    if (labels[0]!.startsWith('silent')) return void silentFor.push(labels.join('.'))
    const known = labels.at(-1) === 'example'
    const hosts = known && question.readUInt16BE(question.length - 4) === 1 ? [1, 2] : []
    const records = hosts
      .slice(0, labels[0]!.startsWith('both') ? 2 : 1)
      .map((host) => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, host]))
    const head = Buffer.from([query[0]!, query[1]!, 0x81, known ? 0x80 : 0x83, 0, 1, 0, records.length, 0, 0, 0, 0])
    server.send(Buffer.concat([head, question, ...records]), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  dns.setServers([`127.0.0.1:${server.address().port}`])
  onTestFinished(() => void server.close())
})
afterEach(() => dns.setServers(before))

test('names whose name server is silent hold up no other name', async () => {
  const over = new AbortController()
  const receiver = await startTestReceiver()
  onTestFinished(() => receiver.stop())
  let ended = 0
  const silent = Array.from({ length: 50 }, (_, n) =>
    fetchWithin(60_000)(`http://silent${n}.example/`, { signal: over.signal })
      .catch(() => {})
      .finally(() => ended++),
  )
  while (new Set(silentFor).size < 50) await new Promise((resolve) => setTimeout(resolve, 5))
  const url = receiver.url.replace('127.0.0.1', 'quick.example')
  expect(await fetchWithin(60_000)(url, { method: 'POST', body: '{}' })).toMatchObject({ status: 200 })
  // Nor other work that needs a thread, such as finding the databases' names.
  await promisify(lookup)('localhost')
  expect(ended).toBe(0)
  over.abort()
  await Promise.all(silent)
})

test('to a name one of whose addresses may not be sent to, nothing is sent', async () => {
  const receiver = await startTestReceiver()
  onTestFinished(() => receiver.stop())
  const addresses = await resolve('both.example', never)
  expect(addresses.map(({ address }) => address)).toEqual(['127.0.0.1', '127.0.0.2'])
  const url = receiver.url.replace('127.0.0.1', 'both.example')
  await expect(fetchWithin(15_000)(url, { method: 'POST', body: '{}' })).rejects.toMatchObject({ code: 'NOT_ALLOWED' })
  expect(receiver.received).toEqual([])
})

test('a silent name server is a timeout', async () => {
  await expect(fetchWithin(500)('http://silent.example/')).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('the hosts file counts, and an unknown name is not found', async () => {
  expect(await resolve('LOCALHOST.', never)).toContainEqual({ address: '127.0.0.1', family: 4 })
  expect(await resolve('any.localhost', never)).toContainEqual({ address: '::1', family: 6 })
  expect(await resolve('some.example', never)).toEqual([{ address: '127.0.0.1', family: 4 }])
  await expect(resolve('no-one.invalid', never)).rejects.toMatchObject({ code: 'ENOTFOUND' })
})
