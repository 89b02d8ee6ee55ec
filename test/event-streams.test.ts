import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createLog } from '#lib/log'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import { freePort } from '../deploy/local/ports.ts'
import { type CallOptions, factsOf } from './e2e/clients/call.ts'
import { callJson } from './e2e/clients/json.ts'
import { type OpenStream, streaming } from './e2e/clients/streams.ts'
import type { Operation } from './examples/contract.ts'
import { type House, startHouse } from './house.ts'
import { startTestServers } from './infra.ts'

let servers: Awaited<ReturnType<typeof startTestServers>>
let house: House

beforeAll(async () => {
  servers = await startTestServers()
  house = await startHouse(
    servers.servers.serviceDatabaseUrls,
    { PORT: String(await freePort(0)) },
    { ...servers, log: createLog('house', 'silent') },
  )
}, 120_000)
afterAll(async () => {
  await house?.stop()
  await servers?.stop()
})

const admin = () => ({ token: house.adminToken, url: house.url })
async function write(operation: Operation, request: object, options: CallOptions = admin()) {
  const answer = await callJson(operation, request as never, { url: house.url, ...options })
  if (answer.error) throw new Error(JSON.stringify(answer.error))
  return answer.ok
}
const newMachine = async () =>
  (await write('AddMachineUser', { userName: `machine-${randomUUID()}`, name: 'Machine' })).userId as string
const subjectsOf = ({ messages }: OpenStream) =>
  messages.flatMap(({ events }) => events ?? []).map(({ aggregateId }) => aggregateId as string)

type Open = (typeof streaming)[number]['open']

/** A human with the right to read the events of the default organization, and a session. */
async function newViewer() {
  const userName = `viewer-${randomUUID()}`
  const [profile, email] = [
    { firstName: 'V', lastName: 'V' },
    { email: 'v@example.com', isVerified: true },
  ]
  const { userId } = await write('AddHumanUser', { userName, profile, email, password: 'Password-1234' })
  await write('AddOrganizationMember', { userId, roles: ['ORG_OWNER_VIEWER'] })
  const { sessionId, sessionToken: token } = await write('CreateSession', {
    loginName: userName,
    password: 'Password-1234',
  })
  return { sessionId, token }
}

describe('a stream, over each encoding,', () => {
  const begin = (request = {}) => Promise.all(streaming.map(({ open }) => beginOver(open, request)))
  const beginOver = async (open: Open, request: object) => {
    const filter = { eventTypes: ['user.machine.*'] }
    const stream = open('WatchEvents', { fromEnd: true, filter, ...request }, admin())
    await vi.waitFor(() => expect(stream.messages.length).toBeGreaterThan(0), { timeout: 10_000 })
    return stream
  }
  const show = (streams: OpenStream[], machines: string[], timeout: number) => {
    const wanted = Object.fromEntries(streaming.map(({ encoding }) => [encoding, machines]))
    const shown = () => Object.fromEntries(streams.map((stream, n) => [streaming[n]!.encoding, subjectsOf(stream)]))
    return vi.waitFor(() => expect(shown()).toEqual(wanted), { timeout })
  }

  test.each(['notifier', 'users', 'grants'] as const)(
    'continues by itself, without gap or repetition, while %s restarts',
    async (name) => {
      const streams = await begin()
      const machines = [await newMachine()]
      await house.restart(name)
      machines.push(await vi.waitFor(() => newMachine(), { timeout: 10_000 }))
      await show(streams, machines, 20_000)
      for (const stream of streams) stream.cancel()
    },
  )

  test('ends at once with UNAVAILABLE when the gateway stops, and another continues from its cursor', async () => {
    const streams = await begin()
    const known = await newMachine()
    await show(streams, [known], 5000)
    const started = performance.now()
    await house.restart('gateway')
    expect(performance.now() - started).toBeLessThan(5000)
    for (const [n, { ended }] of streams.entries())
      expect([streaming[n]!.encoding, await ended]).toMatchObject([
        streaming[n]!.encoding,
        { code: 14, details: [{ reason: 'STREAM_ENDED' }, {}] },
      ])
    const missed = await newMachine()
    const next = await Promise.all(
      streams.map(({ messages }, n) => beginOver(streaming[n]!.open, { cursor: messages.at(-1).cursor })),
    )
    await show(next, [missed], 5000)
    for (const stream of next) stream.cancel()
  })
})

test('a waiting search gives nothing to a session that ended in the meantime', async () => {
  const { sessionId, token } = await newViewer()
  const own = { token, url: house.url }
  const { cursor } = await write('SearchOrganizationEvents', { fromEnd: true }, own)
  const filter = { eventTypes: ['user.machine.*'] }
  const waiting = callJson('SearchOrganizationEvents', { cursor, filter, waitSeconds: 8 }, own)
  const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 1100, 'waits'))])
  expect(early).toBe('waits')
  await write('DeleteSession', { sessionId }, own)
  await newMachine()
  expect(factsOf(await waiting)).toMatchObject({ code: 16, reason: 'TOKEN_INVALID' })
})

test.each(['idp', 'users'] as const)(
  'without %s there is no answer, rather than one without the events of that service',
  async (name) => {
    await house.restart(name, async () => {
      const started = performance.now()
      expect(factsOf(await callJson('SearchEvents', {}, admin()))).toMatchObject({
        code: 14,
        reason: 'SERVICE_UNAVAILABLE',
      })
      expect(performance.now() - started).toBeLessThan(2000)
    })
    expect((await write('SearchEvents', { limit: 1 })).events).toHaveLength(1)
  },
)

test.each([{ waitSeconds: 0 }, { waitSeconds: 9 }])(
  'the caller hears in time of a service that takes requests and does not answer: %o',
  async ({ waitSeconds }) => {
    // A new notifier has not yet started to look for waiting searches.
    await house.restart('notifier')
    // A call to an absent notifier would wait until its deadline, so keep that short.
    const brief = { ...admin(), headers: { 'x-request-timeout': '1' } }
    await vi.waitFor(() => write('SearchEvents', { limit: 1 }, brief), { timeout: 20_000 })
    const deaf = await connectNats(servers.servers.natsUrl.idp, 'idp', createLog('test', 'silent'))
    await house.restart('idp', async () => {
      const requests = deaf.connection.subscribe('roster.idp.v1.InternalService.ListEvents')
      await deaf.connection.flush()
      const headers = { 'x-request-timeout': '20' }
      const answer = await callJson('SearchEvents', { waitSeconds }, { ...admin(), headers })
      expect(factsOf(answer)).toMatchObject({ code: 14, reason: 'SERVICE_UNAVAILABLE' })
      expect(requests.getReceived()).toBeGreaterThan(0)
      await deaf.connection.close()
    })
  },
  60_000,
)

test('many waiting searches share one look, and none of them asks again and again', async () => {
  const nats = await connectNats(servers.servers.natsUrl.admin, 'admin', createLog('test', 'silent'))
  const { cursor } = await write('SearchEvents', { fromEnd: true })
  const filter = { eventTypes: ['user.machine.*'] }
  const before = await timesListed(nats)
  // Long enough that a busy machine has begun them all before the first one ends.
  const waitSeconds = 28
  const began = performance.now()
  const waiting = Array.from({ length: 100 }, () => write('SearchEvents', { cursor, filter, waitSeconds }))
  await vi.waitFor(async () => expect(await timesListed(nats)).toBeGreaterThanOrEqual(before + 100), {
    timeout: 20_000,
  })
  // Each may ask once in vain, for events committed just before it came. Separately, they would go on with 100 a second.
  await vi.waitFor(
    async () => {
      const listed = await timesListed(nats)
      await new Promise((resolve) => setTimeout(resolve, 1000))
      expect((await timesListed(nats)) - listed).toBeLessThan(30)
    },
    { timeout: 20_000 },
  )
  const machine = await newMachine()
  for (const { events } of await Promise.all(waiting)) expect(events[0].aggregateId).toBe(machine)
  // None has waited to its end.
  expect(performance.now() - began).toBeLessThan(waitSeconds * 1000)
  await nats.connection.close()
})

/** How often the users service was asked for its events. */
async function timesListed({ connection }: Nats): Promise<number> {
  const stats = await connection.request('$SRV.STATS.users', '', { timeout: 2000 })
  const { endpoints } = stats.json<{ endpoints: { name: string; num_requests: number }[] }>()
  return endpoints.find(({ name }) => name.endsWith('-ListEvents'))!.num_requests
}
