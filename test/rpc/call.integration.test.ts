import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Servers } from '../../deploy/local/servers.ts'
import { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import { startOwnNats } from '../support/publishing.ts'
import type { RosterError } from '#lib/errors'
import type { Nats } from '#lib/nats/connect-nats'
import { callBytes, createClient } from '#lib/rpc/call'
import type { Call } from '#lib/rpc/headers'
import { callOf, connect, owner, serveUsers } from '../support/rpc.ts'
import { served } from '#lib/rpc/serve'
import { failure, machine, subject } from '../support/serving.ts'

let servers: Servers
let users: Nats
let gateway: Nats

beforeAll(async () => {
  servers = await startOwnNats()
  ;[users, gateway] = await Promise.all([
    connect(servers.natsUrl.users, 'users'),
    connect(servers.natsUrl.gateway, 'gateway'),
  ])
})

afterAll(async () => {
  await Promise.all([users, gateway].map((nats) => nats?.connection.close()))
  await servers?.stop()
})

const send = (call: Call = callOf(), signal?: AbortSignal, nats = gateway) =>
  callBytes(nats, subject('AddMachineUser'), machine(), call, signal)

/** Runs the work and checks that it ends long before the deadline of ten seconds. */
async function atOnce(work: Promise<RosterError>): Promise<RosterError> {
  const started = performance.now()
  const error = await work
  expect(performance.now() - started).toBeLessThan(5000)
  return error
}

test('no service answers the method: UNAVAILABLE at once, with a hint to retry', async () => {
  expect(await atOnce(failure(send()))).toMatchObject({ code: 14, reason: 'SERVICE_UNAVAILABLE', retryAfter: 1 })
})

test('no answer in time: DEADLINE_EXCEEDED', async () => {
  const service = await serveUsers(users, {})
  const error = await failure(send(callOf(owner, { deadline: Date.now() + 50 })))
  expect(error).toMatchObject({ code: 4, reason: 'DEADLINE_EXCEEDED' })
  // Stop without waiting for the call that is never answered.
  void service.stop()
})

test('a deadline that has passed: nothing is sent', async () => {
  expect(await failure(send(callOf(owner, { deadline: Date.now() - 1 })))).toMatchObject({ code: 4 })
})

test('the client went away, before or during the call: CANCELLED', async () => {
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<object>()
  const service = await serveUsers(users, { addMachineUser: () => (begun.resolve(), finish.promise) })
  const gone = new AbortController()
  const work = failure(send(callOf(), gone.signal))
  await begun.promise
  gone.abort()
  expect(await work).toMatchObject({ code: 1, reason: 'CANCELLED' })
  expect(await failure(send(callOf(), gone.signal))).toMatchObject({ code: 1, reason: 'CANCELLED' })
  finish.resolve({ userId: '', details: undefined })
  await service.stop()
})

test('a request that the broker refuses: RESOURCE_EXHAUSTED', async () => {
  const large = new Uint8Array(gateway.connection.info!.max_payload + 1)
  const error = await failure(callBytes(gateway, 'roster.users.v1.UserService.AddMachineUser', large, callOf()))
  expect(error).toMatchObject({ code: 8, reason: 'REQUEST_TOO_LARGE' })
})

test('a client works without a caller', async () => {
  const others = Object.keys(InternalServiceDefinition.methods).map((name) => [name, () => new Promise(() => {})])
  const operations = { ...Object.fromEntries(others), useProof: async () => ({}) }
  const services = [served<typeof InternalServiceDefinition, object>(InternalServiceDefinition, operations)]
  const service = await serveUsers(users, {}, { services })
  const client = createClient(gateway, InternalServiceDefinition, ['useProof'])
  const request = { id: 'x', end: 1 }
  await client.useProof(request, { requestId: 'request-1', deadline: Date.now() + 5000 })
  await service.stop()
})

test('UNAVAILABLE at once where the broker is lost or absent, and an answer once it is back', async () => {
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<object>()
  await serveUsers(users, { addMachineUser: () => (begun.resolve(), finish.promise) })
  const waiting = failure(send())
  await begun.promise
  await servers.nats!.kill()
  expect(await atOnce(waiting)).toMatchObject({ code: 14, reason: 'BROKER_UNAVAILABLE', retryAfter: 1 })
  expect(gateway.connected()).toBe(false)
  expect(await atOnce(failure(send()))).toMatchObject({ code: 14, reason: 'BROKER_UNAVAILABLE' })
  finish.resolve({ userId: 'made', details: undefined })
  await servers.nats!.start()
  await vi.waitFor(() => send(), { timeout: 15_000 })
})

test('a caller too large for a header is an error, not the end of the process', async () => {
  const call = callOf(owner, { requestId: 'two\r\nlines' })
  expect(await failure(send(call).catch((error: RosterError) => Promise.reject(error)))).toBeInstanceOf(Error)
})
