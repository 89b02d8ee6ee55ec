import { RosterError } from '#lib/errors'
import type { Header } from '../listen/headers.ts'

const milliseconds: Record<string, number> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }

/**
 * Reads `grpc-timeout`, up to eight digits and a unit of H, M, S, m, u, n, in milliseconds. INVALID_ARGUMENT
 * TIMEOUT_MALFORMED.
 */
export function readGrpcTimeout(header: Header): number | undefined {
  const text = header('grpc-timeout')
  if (text === undefined) return undefined
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? []
  if (digits === undefined || unit === undefined) throw malformed('grpc-timeout')
  return Number(digits) * milliseconds[unit]!
}

/**
 * Reads `x-request-timeout` of a call in JSON, seconds as a decimal number such as `5` or `0.25`, in milliseconds.
 * INVALID_ARGUMENT TIMEOUT_MALFORMED.
 */
export function readRequestTimeout(header: Header): number | undefined {
  const text = header('x-request-timeout')
  if (text === undefined) return undefined
  if (!/^\d{1,8}(\.\d{1,9})?$/.test(text)) throw malformed('x-request-timeout')
  return Number(text) * 1000
}

/** Reads `connect-timeout-ms`, up to ten digits, in milliseconds. INVALID_ARGUMENT TIMEOUT_MALFORMED. */
export function readConnectTimeout(header: Header): number | undefined {
  const text = header('connect-timeout-ms')
  if (text === undefined) return undefined
  if (!/^\d{1,10}$/.test(text)) throw malformed('connect-timeout-ms')
  return Number(text)
}

function malformed(header: string) {
  return new RosterError('INVALID_ARGUMENT', 'TIMEOUT_MALFORMED', `The header ${header} cannot be read.`)
}
