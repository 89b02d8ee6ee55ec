import { UserServiceDefinition } from '#gen/roster/users/v1/user_service'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import { createLog, type Log } from '#lib/log'
import type { Service } from '#lib/process'
import type { AskingNats } from '#lib/rpc/call'
import { anonymous, type Caller } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { serve, served, type ServeOptions } from '#lib/rpc/serve'
import { testReader, testSigner } from './caller-keys.ts'

/** Serves the users' methods. A method without an operation never answers. */
export async function serveUsers(
  nats: Nats,
  operations: Record<string, unknown>,
  options: Partial<ServeOptions<object>> = {},
): Promise<Service> {
  const all = Object.keys(UserServiceDefinition.methods).map((name) => [name, () => new Promise(() => {})])
  const every = { ...Object.fromEntries(all), ...operations }
  const users = served<typeof UserServiceDefinition, object>(UserServiceDefinition, every as never)
  return serve({
    name: 'users',
    nats,
    log: silent,
    context: {},
    services: [users],
    readCaller: testReader('users'),
    ...options,
  })
}

export const silent: Log = createLog('test', 'silent')

/** A log that keeps its lines. */
export function keepingLog(): { log: Log; lines: string[] } {
  const lines: string[] = []
  const log = createLog('test', 'debug', { write: (line) => void lines.push(line) })
  return { log, lines }
}

/** A connection that signs callers, like the gateway's. */
export const connect = async (url: string, service: string): Promise<AskingNats> =>
  Object.assign(await connectNats(url, service, silent), { sign: testSigner() })

/** A caller that owns one organization. */
export const owner: Caller = {
  ...anonymous,
  userId: 'owner',
  human: true,
  organizationId: 'house',
  organizationRoles: { house: ['ORG_OWNER'] },
}

export function callOf(caller: Caller = owner, more: Partial<Call> = {}): Call {
  return {
    caller,
    organizationId: caller.organizationId,
    requestId: 'request-1',
    deadline: Date.now() + 10_000,
    clientAddress: '203.0.113.7',
    traceparent: '',
    ...more,
  }
}
