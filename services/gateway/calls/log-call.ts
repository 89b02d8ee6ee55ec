import { codes, type RosterError } from '#lib/errors'
import type { Log } from '#lib/log'
import { measureCall } from '#lib/rpc/measures'
import type { ArrivedCall } from './arrived-call.ts'

/** Measures a call, and writes the one line that the log has of it, unless `LOG_CALLS` leaves it out. `own` adds to the line. */
export function logCall(call: ArrivedCall, error?: RosterError, own?: object): void {
  const { gateway, arrival, started, userId, subject } = call
  const { encoding, requestId } = arrival
  const code = error?.code ?? 0
  measureCall(isOfStranger(call) ? '_OTHER' : subject, encoding, started, call.hasLasted ? 0 : code)
  if (!error && Math.random() >= gateway.config.LOG_CALLS) return
  const line = {
    method: subject,
    encoding,
    code,
    ...(error && { reason: error.reason }),
    ms: Math.round((performance.now() - started) * 100) / 100,
    requestId,
    user: userId,
    ...own,
  }
  unredacted(gateway.log).info(line, 'call')
  if (error?.code === codes.INTERNAL && error.cause !== undefined)
    gateway.log.error({ err: error.cause, method: subject, requestId }, 'failed')
}

// Strangers could otherwise make a series of numbers for each method, encoding and status.
function isOfStranger({ userId, arrival }: ArrivedCall): boolean {
  return userId === '' && arrival.method.access.rule !== 'public'
}

const known = new WeakMap<Log, Log>()

// This file chooses every field of the line, and none is a secret. Redaction would cost a tenth of the gateway's work.
function unredacted(log: Log): Log {
  let plain = known.get(log)
  if (!plain) known.set(log, (plain = log.child({}, { redact: [] })))
  return plain
}
