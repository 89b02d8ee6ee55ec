import { type RosterError, toRosterError } from '#lib/errors'
import { type Arrival, startCall } from './arrived-call.ts'
import type { ValueLimit } from '../rate-limits/value-limit.ts'
import { askTranslated } from './ask-translated.ts'
import { translationOf } from '../compatibility/compatible-methods.ts'
import { ask, revokedWithin } from './ask.ts'
import { countBulk } from './count-bulk.ts'
import type { CallSettings, Gateway } from './gateway.ts'
import { identify } from './identify.ts'
import { logCall } from './log-call.ts'
import { recordRefusal } from './record-refusal.ts'
import { traceCall } from './trace-call.ts'

/**
 * Takes one call all its way: lets it in, identifies its caller, reads its bytes, asks the service, writes the answer,
 * logs it. Gives the result of `write`, or the error. Never throws.
 */
export function perform<Answer>(
  gateway: Gateway,
  arrival: Arrival,
  read: (values: ValueLimit) => Uint8Array | Promise<Uint8Array>,
  write: (answer: Uint8Array, headers: Record<string, string>) => Answer,
): Promise<Answer | RosterError> {
  return traceCall(gateway, arrival, () => performCall(gateway, arrival, read, write))
}

async function performCall<Answer>(
  gateway: Gateway,
  arrival: Arrival,
  read: (values: ValueLimit) => Uint8Array | Promise<Uint8Array>,
  write: (answer: Uint8Array, headers: Record<string, string>) => Answer,
): Promise<Answer | RosterError> {
  const arrived = startCall(gateway, arrival)
  const translation = translationOf(arrival.method)
  let request: Uint8Array | undefined
  try {
    arrival.admit()
    const deadline = Date.now() + limitTimeout(gateway.config, arrival.timeout())
    const call = await identify(arrived, { deadline: () => deadline, signal: arrival.signal })
    const identified = performance.now()
    const { values, countItems } = countBulk(call, arrival.clientAddress)
    request = await read(values)
    countItems(request)
    // A caller that sends slowly may have lost the right to the call meanwhile.
    if (performance.now() - identified >= revokedWithin) await call.identifyAgain()
    const asked = translation ? askTranslated(arrived, call, translation, request) : ask(call, request)
    const { bytes, sequence, replayed } = await asked
    const answer = write(bytes, {
      ...(sequence !== undefined && { etag: `"${sequence}"` }),
      ...(replayed && { 'idempotent-replayed': 'true' }),
    })
    logCall(arrived)
    return answer
  } catch (thrown) {
    const error = toRosterError(thrown)
    logCall(arrived, error)
    recordRefusal(arrived, error, translation ? undefined : request)
    return error
  }
}

function limitTimeout(settings: CallSettings, wanted: number | undefined): number {
  return Math.min(Math.floor(wanted ?? settings.CALL_TIMEOUT_MS), settings.MAX_CALL_TIMEOUT_MS)
}
