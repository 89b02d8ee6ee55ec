import { setTimeout as sleep } from 'node:timers/promises'
import { codes, RosterError } from '#lib/errors'
import { type Answered, callBytes } from '#lib/rpc/call'
import { askAgain } from '../ask-again.ts'
import type { IdentifiedCall } from './identify.ts'

/** Milliseconds within which every gateway knows of a revocation. */
export const revokedWithin = 1000

/**
 * Asks the service, and gives its answer. During a long wait for a read, the caller may lose the right to the answer.
 * So the caller is identified again, and the service asked again where that changed. Errors of `callBytes` and
 * `identifyAgain`.
 */
export async function ask(call: IdentifiedCall, request: Uint8Array): Promise<Answered> {
  const asked = performance.now()
  const answered = await askInDoubtTwice(call, request)
  if (!call.method.reads || performance.now() - asked < revokedWithin) return answered
  return (await call.identifyAgain()) ? answered : ask(call, request)
}

const retryAfter = 250

// Where no answer came, the service may or may not have done the work. A request with an Idempotency-Key has one effect
// even when it is sent twice, so it is sent once more.
function askInDoubtTwice(call: IdentifiedCall, request: Uint8Array): Promise<Answered> {
  const { gateway, method, signal } = call
  const serviceCall = call.forService()
  const hasKey = serviceCall.idempotencyKey !== undefined
  const askOnce = () =>
    askAgain(gateway.secondRequests, method, hasKey, () =>
      callBytes(gateway.nats, method.subject, request, serviceCall, signal),
    )
  if (!hasKey) return askOnce()
  return askOnce().catch(async (error: unknown) => {
    const inDoubt = error instanceof RosterError && error.code === codes.UNAVAILABLE
    if (!inDoubt || serviceCall.deadline < Date.now() + 2 * retryAfter) throw error
    await sleep(retryAfter)
    return askOnce()
  })
}
