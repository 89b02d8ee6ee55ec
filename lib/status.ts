import { BadRequest, ErrorInfo, RetryInfo } from '#gen/google/rpc/error_details'
import { Status } from '#gen/google/rpc/status'
import { type CodeName, codes, RosterError } from './errors.ts'

const domain = 'roster'
const typeUrl = (name: string) => `type.googleapis.com/google.rpc.${name}`
const names = Object.fromEntries(Object.entries(codes).map(([name, code]) => [code, name])) as Record<number, CodeName>

export type PublicError = Pick<RosterError, 'code' | 'reason' | 'message' | 'metadata' | 'violations' | 'retryAfter'>

/** A `google.rpc.Status` in bytes. An error crosses NATS in this form, and `grpc-status-details-bin` holds it. */
export function encodeStatus(error: PublicError): Uint8Array {
  return Status.encode(toStatus(error)).finish()
}

/** An error as a message. The result of a bulk's item holds it. */
export function toStatus(error: PublicError): Status {
  const details = [
    any('ErrorInfo', ErrorInfo.encode({ reason: error.reason, domain, metadata: error.metadata }).finish()),
  ]
  if (error.violations.length > 0)
    details.push(any('BadRequest', BadRequest.encode({ fieldViolations: error.violations }).finish()))
  if (error.retryAfter !== undefined)
    details.push(any('RetryInfo', RetryInfo.encode({ retryDelay: toDuration(error.retryAfter) }).finish()))
  return { code: error.code, message: error.message, details }
}

/** Decodes the bytes that `encodeStatus` made into an error. The cause is lost. */
export function decodeStatus(bytes: Uint8Array): RosterError {
  const status = Status.decode(bytes)
  const find = (name: string) => status.details.find((detail) => detail.typeUrl === typeUrl(name))?.value
  const [info, bad, retry] = [find('ErrorInfo'), find('BadRequest'), find('RetryInfo')]
  const { reason, metadata } = info ? ErrorInfo.decode(info) : { reason: 'UNKNOWN', metadata: {} }
  const delay = retry && RetryInfo.decode(retry).retryDelay
  const seconds = delay && delay.seconds + delay.nanos / 1e9
  return new RosterError(names[status.code] ?? 'UNKNOWN', plainReason(reason), status.message.slice(0, longestText), {
    metadata: Object.fromEntries(
      Object.entries(metadata)
        .slice(0, mostEntries)
        .map(([name, value]) => [name.slice(0, longestName), value.slice(0, longestText)]),
    ),
    violations: (bad ? BadRequest.decode(bad).fieldViolations : []).slice(0, mostEntries),
    ...(seconds !== undefined && { retryAfter: Math.min(Math.max(seconds, 0), longestWait) }),
  })
}

// A compromised service may write anything here, and the text ends up in headers, logs and other programs. So cut it.
const [mostEntries, longestName, longestText, longestWait] = [100, 200, 20_000, 86_400]

function plainReason(reason: string): string {
  return /^[A-Z][A-Z0-9_]{0,63}$/.test(reason) ? reason : 'UNKNOWN'
}

type JsonDetail = { '@type': string } & Record<string, unknown>

/** The same Status in canonical JSON: the error body over HTTP. */
export function statusToJson(error: RosterError): { code: number; message: string; details: JsonDetail[] } {
  const metadata = Object.keys(error.metadata).length > 0 && { metadata: error.metadata }
  const details: JsonDetail[] = [{ '@type': typeUrl('ErrorInfo'), reason: error.reason, domain, ...metadata }]
  if (error.violations.length > 0) details.push({ '@type': typeUrl('BadRequest'), fieldViolations: error.violations })
  if (error.retryAfter !== undefined)
    details.push({ '@type': typeUrl('RetryInfo'), retryDelay: secondsToJson(error.retryAfter) })
  return { code: error.code, message: error.message, details }
}

// Canonical JSON has zero, three, six or nine decimal places.
function secondsToJson(seconds: number): string {
  return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(3)}s`
}

function any(name: string, value: Uint8Array) {
  return { typeUrl: typeUrl(name), value: Buffer.from(value) }
}

function toDuration(seconds: number) {
  const whole = Math.floor(seconds)
  return { seconds: whole, nanos: Math.round((seconds - whole) * 1e9) }
}
