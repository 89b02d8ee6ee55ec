import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { codes, RosterError } from '#lib/errors'
import { type Answered, callBytes } from '#lib/rpc/call'
import type { Call } from '#lib/rpc/headers'
import type { Method } from '#lib/rpc/methods'
import type { callOf } from './arrival-facts.ts'
import type { Identity } from '../callers/authenticate.ts'
import type { Gateway } from './calls.ts'

/** Whether two identities are the same caller with the same rights. */
export function isSameIdentity(one: Identity, other: Identity): boolean {
  return one === other || isDeepStrictEqual(one, other)
}

type Conditioned = ReturnType<typeof callOf> & Pick<Call, 'deadline' | 'idempotencyKey' | 'ifMatch'>

/** Milliseconds within which a revocation is known to a gateway. */
export const revokedWithin = 1000

/**
 * The service's answer. One that was waited for may be for somebody who has lost the right to it meanwhile: then it is asked anew,
 * as whom the caller is now. Errors as of `callBytes` and `identify`.
 */
export async function ask(
  gateway: Gateway,
  method: Method,
  bytes: Uint8Array,
  call: Conditioned,
  identity: Identity,
  identify: () => Promise<Identity>,
  signal: AbortSignal,
): Promise<Answered> {
  const asked = performance.now()
  const answered = await askOnce(gateway, method, bytes, { ...call, ...identity }, signal)
  if (!method.reads || performance.now() - asked < revokedWithin) return answered
  const now = await identify()
  return isSameIdentity(identity, now) ? answered : ask(gateway, method, bytes, call, now, identify, signal)
}

const retryAfter = 250

// Where nobody answered, a keyed request may have been done or not: asked once more, it has one effect all the same.
async function askOnce(
  gateway: Gateway,
  { subject }: Method,
  bytes: Uint8Array,
  call: Call,
  signal: AbortSignal,
): Promise<Answered> {
  try {
    return await callBytes(gateway.nats, subject, bytes, call, signal)
  } catch (error) {
    const inDoubt = error instanceof RosterError && error.code === codes.UNAVAILABLE
    if (!inDoubt || call.idempotencyKey === undefined || call.deadline < Date.now() + 2 * retryAfter) throw error
    await sleep(retryAfter)
    return callBytes(gateway.nats, subject, bytes, call, signal)
  }
}
