import { testServers } from './servers.ts'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { AddMachineUserRequest } from '#gen/roster/users/v1/user_service'
import type { RosterError } from '#lib/errors'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { callBytes } from '#lib/rpc/call'
import type { Call } from '#lib/rpc/headers'
import { callOf, connect, keepingLog, serveUsers } from './rpc.ts'

/**
 * The setting for the tests of `serve`: the users' methods, served anew for each test, and a gateway that calls them.
 */
export interface Serving {
  users: Nats
  gateway: Nats
  /** The log lines of the test. */
  lines: string[]
  start(operations: Record<string, unknown>, options?: object): Promise<void>
  stop(): Promise<void>
  send(name: string, bytes: Uint8Array, call?: Call): ReturnType<typeof callBytes>
}

/** Connects for the tests of a file and cleans up after each test. */
export function useServing(): Serving {
  let service: Service | undefined
  let logged: ReturnType<typeof keepingLog>
  const serving = {
    get lines() {
      return logged.lines
    },
    async start(operations: Record<string, unknown>, options: object = {}) {
      service = await serveUsers(serving.users, operations, { log: logged.log, ...options })
    },
    async stop() {
      const stopped = service?.stop()
      service = undefined
      await stopped
    },
    send: (name: string, bytes: Uint8Array, call: Call = callOf()) =>
      callBytes(serving.gateway, subject(name), bytes, call),
  } as Serving
  beforeAll(async () => {
    const { natsUrl } = testServers()
    serving.users = await connect(natsUrl.users, 'users')
    serving.gateway = await connect(natsUrl.gateway, 'gateway')
  })
  beforeEach(() => void (logged = keepingLog()))
  afterEach(() => serving.stop())
  afterAll(() => Promise.all([serving.users, serving.gateway].map((nats) => nats?.connection.close())))
  return serving
}

export const subject = (name: string) => `roster.users.v1.UserService.${name}`

/** The error of a call that must fail. */
export const failure = (work: Promise<unknown>): Promise<RosterError> =>
  work.then(
    () => expect.fail('it was answered'),
    (error: RosterError) => error,
  )

/** A request for AddMachineUser in bytes. */
export const machine = (more: Partial<AddMachineUserRequest> = {}) =>
  AddMachineUserRequest.encode({
    userName: 'robot',
    name: 'Robot',
    description: '',
    accessTokenType: 0,
    userId: undefined,
    ...more,
  }).finish()

/** The answer of AddMachineUser. */
export const added = { userId: 'made', details: undefined }
