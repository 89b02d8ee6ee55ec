import { randomBytes } from 'node:crypto'
import { createLog } from '#lib/log'
import { callerKey, callerKeys } from '#lib/rpc/signatures/caller-keys'
import { createCallerSigner, type SignCaller } from '#lib/rpc/signatures/sign-callers'
import { createCallerReader, type ReadCaller } from '#lib/rpc/signatures/verify-callers'

const silent = createLog('test', 'silent')
const made = ['users', 'grants', 'idp', 'notifier'].map((service) => [service, newCallerKey()] as const)

/** `ROSTER_CALLER_KEY` of each service, for the tests of a file. */
export const testCallerKeys = Object.fromEntries(made) as Record<'users' | 'grants' | 'idp' | 'notifier', string>

/** `ROSTER_CALLER_KEYS` of the gateway of these services. */
export const testGatewayKeys = made.map((pair) => pair.join(':')).join(',')

/** Signs like a gateway with these keys. */
export function testSigner(keys = testGatewayKeys): SignCaller {
  return createCallerSigner(callerKeys([]).read(keys)(silent))
}

/** Reads like a service with this key. */
export function testReader(service: string, key = testCallerKeys[service as 'users']): ReadCaller {
  return createCallerReader(service, callerKey.read(key)(silent))
}

export function newCallerKey(): string {
  return randomBytes(32).toString('base64')
}
