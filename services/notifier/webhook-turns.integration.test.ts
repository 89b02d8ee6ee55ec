import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { startTestReceiver } from '../../test/receiver.ts'
import { newAddress, openHouse, type TestHouse } from './test-house.ts'

let house: TestHouse
let organizations = 0

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterEach(async () => {
  await house.stopNotifiers()
  await house.ledger`delete from webhooks`
})
afterAll(() => house.stop())

const soon = { timeout: 40_000, interval: 20 }
const newOrganization = () => `organization-${++organizations}`

/** A server that takes connections and never answers. */
async function startSilent() {
  const open = new Set<Socket>()
  let closed = 0
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => void (open.delete(socket), closed++))
    socket.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    /** Tries under way. */
    open: () => open.size,
    /** Tries that have ended. */
    closed: () => closed,
  }
}

async function receiver() {
  const made = await startTestReceiver()
  onTestFinished(() => made.stop())
  return made
}

async function start(more: Record<string, string> = {}, replicas = 1) {
  for (let n = 0; n < replicas; n++) await house.startNotifier({ SWEEP_INTERVAL: '1', WEBHOOK_TIMEOUT: '60', ...more })
  await house.webhooksAnswer()
}

const subscribe = (url: string, organization: string) => house.addWebhook({ url, eventTypes: ['user.*'] }, organization)
const addHumans = (organization: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => house.addHuman({}, newAddress(), organization)))

/** Webhooks of an organization that hang, and events for all of them. */
async function attack(url: string, organization: string, webhooks: number, humans: number) {
  for (let n = 0; n < webhooks; n++) await subscribe(url, organization)
  await addHumans(organization, humans)
}

const took = (name: string, since: number) => console.info(`${name}: ${Math.round(performance.now() - since)} ms`)

test.each([1, 2])('99 webhooks that hang hold up no other organization, with %i notifiers', async (replicas) => {
  await start({}, replicas)
  const [silent, hook, organization] = [await startSilent(), await receiver(), newOrganization()]
  await attack(silent.url, newOrganization(), 99, 10)
  await vi.waitFor(() => expect(silent.open()).toBeGreaterThan(0), soon)
  await subscribe(hook.url, organization)
  const since = performance.now()
  await addHumans(organization, 25)
  await vi.waitFor(() => expect(new Set(hook.taken().map(({ event }) => event.id)).size).toBe(50), soon)
  took(`50 deliveries beside 99 webhooks that hang, ${replicas} notifiers`, since)
  expect(silent.closed()).toBe(0)
})
