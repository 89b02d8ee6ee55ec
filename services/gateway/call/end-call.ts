import type { DescField } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { codes, type RosterError } from '#lib/errors'
import type { Log } from '#lib/log'
import { measureCall } from '#lib/rpc/measures'
import type { Method } from '#lib/rpc/methods'
import type { ArrivedCall } from './arrived-call.ts'

/**
 * Ends a call: measures it, writes its one line into the log unless `LOG_CALLS` leaves it out, and records a PERMISSION_DENIED, so that grants can
 * explain it. `request`: as far as it was read. `own` adds to the line.
 */
export function endCall(call: ArrivedCall, error?: RosterError, request?: Uint8Array, own?: object): void {
  logCall(call, error, own)
  if (error) recordRefusal(call, error, request)
}

function logCall(call: ArrivedCall, error: RosterError | undefined, own: object | undefined): void {
  const { gateway, arrival, started, userId, subject } = call
  const { encoding, requestId } = arrival
  const code = error?.code ?? 0
  measureCall(isUnproved(call) ? '_OTHER' : subject, encoding, started, call.hasLasted ? 0 : code)
  if (!error && Math.random() >= gateway.config.LOG_CALLS) return
  const line = {
    method: subject,
    encoding,
    code,
    ...(error && { reason: error.reason, ...faultyFields(error, arrival.method) }),
    ms: Math.round((performance.now() - started) * 100) / 100,
    requestId,
    user: userId,
    ...own,
  }
  unredacted(gateway.log).info(line, 'call')
  if (error?.code === codes.INTERNAL && error.cause !== undefined)
    gateway.log.error({ err: error.cause, method: subject, requestId }, 'failed')
}

// Names of the contract alone: what came in the place of a name may be a secret.
function faultyFields({ violations }: RosterError, { desc }: Method): { fields?: string[] } {
  if (violations.length === 0) return {}
  const named = new Set(violations.map(({ field }) => field.split(/[.[]/, 1)[0]))
  const faulty = desc.input.fields.filter(({ name, jsonName }) => named.has(name) || named.has(jsonName))
  return faulty.length > 0 ? { fields: faulty.slice(0, mostFields).map(({ name }) => name) } : {}
}

const mostFields = 10

// Clients without a token could otherwise make a time series for each method, encoding and status.
function isUnproved({ userId, arrival }: ArrivedCall): boolean {
  return userId === '' && arrival.method.access.rule !== 'public'
}

const known = new WeakMap<Log, Log>()

// This file chooses every field of the line, and none is a secret. Redaction would cost a tenth of the gateway's work.
function unredacted(log: Log): Log {
  let plain = known.get(log)
  if (!plain) known.set(log, (plain = log.child({}, { redact: [] })))
  return plain
}

function recordRefusal(call: ArrivedCall, error: RosterError, request: Uint8Array | undefined): void {
  const { gateway, arrival, userId, subject } = call
  if (error.code !== codes.PERMISSION_DENIED || userId === '') return
  const { header, requestId, method } = arrival
  const organization = call.actsIn ?? (header('x-service-orgid') || header('x-zitadel-orgid') || call.home)
  const { project } = method.access
  const field = method.desc.input.fields.find(({ name }) => name === project && name === 'project_id')
  const refusal = {
    userId,
    requestId,
    organizationId: idOf(organization),
    method: subject,
    projectId: field && request ? idOf(readText(field, request)) : '',
    time: new Date(),
  }
  gateway.refusals.record(refusal, call.home)
}

// What is no id is no place where a caller could have a role.
function idOf(text: string): string {
  return /^[\x21-\x7e]{1,200}$/.test(text) ? text : ''
}

// Nothing is decided by it: the service has refused the call. A wrong text could only spoil the explanation.
function readText({ number }: DescField, request: Uint8Array): string {
  let text = ''
  try {
    const reader = new BinaryReader(request)
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag()
      if (field === number && wireType === WireType.LengthDelimited) text = reader.string()
      else reader.skip(wireType, field)
    }
  } catch {
    // The service refused the call before it read this.
  }
  return text
}
