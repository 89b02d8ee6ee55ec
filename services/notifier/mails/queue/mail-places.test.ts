import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openMailPlaces } from './mail-places.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const settle = () => vi.advanceTimersByTimeAsync(0)

/** Mails that end when the test says so. */
function openTest(count: number) {
  const places = openMailPlaces(count)
  const begun: string[] = []
  const refused: string[] = []
  const ends = new Map<string, () => void>()
  return {
    begun,
    refused,
    send(domain: string, organizationId = 'acme', name = domain) {
      const work = () => new Promise<void>((end) => (begun.push(name), ends.set(name, end)))
      places.take({ domain, organizationId }, work).catch(() => refused.push(name))
    },
    async end(name: string) {
      ends.get(name)!()
      await settle()
    },
    /** Makes domains known as quick. */
    async know(...domains: string[]) {
      for (const domain of domains) await places.take({ domain, organizationId: 'acme' }, async () => {})
    },
  }
}

test('a domain has half of the places, however quick it is', async () => {
  const { send, begun, know, end } = openTest(8)
  await know('quick', 'other')
  for (let n = 1; n <= 6; n++) send('quick', 'acme', `quick ${n}`)
  send('other')
  await settle()
  expect(begun).toEqual(['quick 1', 'quick 2', 'quick 3', 'quick 4', 'other'])
  await end('quick 2')
  expect(begun.at(-1)).toBe('quick 5')
})

test('a new domain has one place until its first mail is out, and new domains have half together', async () => {
  const { send, begun, know, end } = openTest(8)
  await know('quick')
  send('new 1', 'acme', 'first')
  send('new 1', 'acme', 'second')
  for (let n = 2; n <= 4; n++) send(`new ${n}`)
  for (let n = 1; n <= 2; n++) send(`strange ${n}`, 'umbrella')
  send('quick')
  await settle()
  expect(begun).toEqual(['first', 'new 2', 'new 3', 'strange 1', 'quick'])
  await end('first')
  expect(begun.slice(5)).toEqual(['second', 'new 4'])
})

test('all slow domains have a quarter of the places together', async () => {
  const { send, begun, know } = openTest(8)
  await know('quick')
  for (const name of ['slow 1', 'slow 2', 'slow 3']) send(name)
  await vi.advanceTimersByTimeAsync(1000)
  for (const name of ['slow 1', 'slow 2', 'slow 3']) send(name, 'umbrella', `${name} again`)
  send('new', 'umbrella')
  send('quick')
  await settle()
  expect(begun).toEqual(['slow 1', 'slow 2', 'slow 3', 'new', 'quick'])
})

test('a quick domain that needs a second is slow, and is quick again after its next quick mail', async () => {
  const { send, begun, know, end } = openTest(8)
  await know('changing')
  for (let n = 1; n <= 9; n++) send('changing', 'acme', `${n}`)
  await vi.advanceTimersByTimeAsync(1000)
  for (const name of ['1', '2', '3']) await end(name)
  expect(begun).toEqual(['1', '2', '3', '4', '5'])
  await end('5')
  expect(begun).toEqual(['1', '2', '3', '4', '5', '6', '7', '8'])
})

test('of many mails that wait for slow domains, those of the organization with the most come again later', async () => {
  const { send, begun, refused, know, end } = openTest(4)
  await know('quick')
  for (let n = 1; n <= 12; n++) send('slow', 'acme', `${n}`)
  send('slow', 'umbrella', 'other')
  for (let n = 1; n <= 8; n++) send('quick', 'acme', `quick ${n}`)
  await settle()
  expect(begun).toEqual(['1', 'quick 1', 'quick 2'])
  expect(refused).toEqual(['10', '11', '12', '9'])
  await end('quick 1')
  expect(begun.at(-1)).toBe('quick 3')
})

test('a single place serves everyone one after the other, and a mail that fails gives it back', async () => {
  const places = openMailPlaces(1)
  const to = { domain: 'example.com', organizationId: '' }
  const failing = places.take(to, () => Promise.reject(new Error('refused')))
  const next = places.take(to, async (waited) => waited)
  await expect(failing).rejects.toThrow('refused')
  await expect(next).resolves.toBeGreaterThanOrEqual(0)
})
