import { lookup } from 'node:dns'
import { promisify } from 'node:util'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { useNameServer } from '#test/support/upstreams/name-server'
import { startTestReceiver } from '#test/support/receiver'
import { destinations } from './destinations.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { resolve } from './resolve.ts'

const fetchWithin = (within: number) => guardedFetch(destinations.read('127.0.0.1'), { within })
const never = new AbortController().signal
let names: Awaited<ReturnType<typeof useNameServer>>

beforeEach(async () => {
  names = await useNameServer()
  onTestFinished(() => names.stop())
})

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
  while (new Set(names.silentFor).size < 50) await new Promise((resolve) => setTimeout(resolve, 5))
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
