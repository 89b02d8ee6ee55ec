import { type RosterError, toRosterError } from '#lib/errors'
import { telemetry } from '#lib/telemetry/telemetry'
import { type Allowance, admitCall } from '../listen/admission.ts'
import { fewValues, type ValueLimit } from '../rate-limits/value-limit.ts'
import { translationOf } from '../../../compat/zitadel/translation/compatible-methods.ts'
import type { Arrival, ArrivedCall } from './arrived-call.ts'
import { ask, revokedWithin } from './ask.ts'
import { askTranslated } from './ask-translated.ts'
import { countBulk } from './count-bulk.ts'
import { endCall } from './end-call.ts'
import type { CallSettings, Gateway } from './gateway.ts'
import { identify } from './identify.ts'
import { traceCall } from './trace-call.ts'

/** Reads the request message of a call, in bytes. */
export type Read = (allowance: Allowance, values: ValueLimit) => Uint8Array | Promise<Uint8Array>

/** Writes the answer of a service as its protocol has it. `headers` belong to it. */
export type Write<Answer> = (answer: Uint8Array, headers: Record<string, string>) => Answer

/**
 * Performs one call: admits it, identifies its caller, reads its request, asks its service, writes the answer, logs it.
 * Gives the result of `write`, or the error. Never throws.
 */
export function perform<Answer>(
  gateway: Gateway,
  arrival: Arrival,
  read: Read,
  write: Write<Answer>,
): Promise<Answer | RosterError> {
  const { tracing } = telemetry
  if (!tracing) return performCall(gateway, arrival, read, write)
  return traceCall(tracing, gateway, arrival, () => performCall(gateway, arrival, read, write))
}

async function performCall<Answer>(
  gateway: Gateway,
  arrival: Arrival,
  read: Read,
  write: Write<Answer>,
): Promise<Answer | RosterError> {
  const { method, incoming, clientAddress, header, signal } = arrival
  const { subject } = method
  const arrived: ArrivedCall = { gateway, arrival, started: performance.now(), userId: '', home: '', subject }
  const translation = translationOf(method)
  let request: Uint8Array | undefined
  try {
    const allowance = admitCall(gateway, method, incoming, clientAddress)
    const deadline = Date.now() + limitTimeout(gateway.config, arrival.timeout(header))
    arrived.token = await arrival.readToken?.(allowance)
    const call = await identify(arrived, { deadline: () => deadline, signal })
    const identified = performance.now()
    const bulk = method.items && countBulk(call, method.items, clientAddress)
    request = await read(allowance, bulk?.values ?? fewValues)
    bulk?.countItems(request)
    // A caller that sends slowly may have lost the right to the call meanwhile.
    if (performance.now() - identified >= revokedWithin) await call.identifyAgain()
    const asked = translation ? askTranslated(arrived, call, translation, request) : ask(call, request)
    const { bytes, sequence, replayed } = await asked
    const answer = write(bytes, {
      ...(sequence !== undefined && { etag: `"${sequence}"` }),
      ...(replayed && { 'idempotent-replayed': 'true' }),
    })
    endCall(arrived)
    return answer
  } catch (thrown) {
    const error = toRosterError(thrown)
    endCall(arrived, error, translation ? undefined : request)
    return error
  }
}

function limitTimeout(settings: CallSettings, wanted: number | undefined): number {
  return Math.min(Math.floor(wanted ?? settings.CALL_TIMEOUT_MS), settings.MAX_CALL_TIMEOUT_MS)
}
