/** gRPC status codes by name. */
export const codes = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const

export type CodeName = keyof typeof codes
export type Code = (typeof codes)[CodeName]

/** A faulty field: its path in JSON spelling, and a description of the fault. */
export interface Violation {
  field: string
  description: string
}

export interface ErrorDetails {
  /** Facts for programs. They contain no secret and no address. */
  metadata?: Record<string, string>
  violations?: Violation[]
  /** Seconds after which a retry makes sense. */
  retryAfter?: number | undefined
  cause?: unknown
}

/**
 * The only error class of Roster. `reason` is stable, in UPPER_SNAKE_CASE and listed in docs/errors.md. `message` is
 * public. `cause` goes to the log only.
 */
export class RosterError extends Error {
  override readonly name = 'RosterError'
  readonly code: Code
  readonly reason: string
  readonly metadata: Record<string, string>
  readonly violations: Violation[]
  /** An earlier request with the same Idempotency-Key got this same error. */
  replayed?: boolean
  readonly retryAfter: number | undefined

  constructor(code: CodeName, reason: string, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.code = codes[code]
    this.reason = reason
    this.metadata = details.metadata ?? {}
    this.violations = details.violations ?? []
    this.retryAfter = details.retryAfter
  }
}

/** Converts any foreign error into INTERNAL. Its cause is for the log and never reaches the caller. */
export function toRosterError(error: unknown): RosterError {
  if (error instanceof RosterError) return error
  return new RosterError('INTERNAL', 'INTERNAL', 'An internal error occurred.', { cause: error })
}

/** RESOURCE_EXHAUSTED: a limit, such as `project.roles`, allows at most `most`. */
export function limitReached(limit: string, most: number, message: string): RosterError {
  return new RosterError('RESOURCE_EXHAUSTED', 'LIMIT_REACHED', message, { metadata: { limit, most: String(most) } })
}

/** INVALID_ARGUMENT with all faulty fields in one answer. */
export function invalid(violations: Violation[], reason = 'VALIDATION_FAILED'): RosterError {
  const fields = violations.map((violation) => `${violation.field}: ${violation.description}`)
  return new RosterError('INVALID_ARGUMENT', reason, fields.join('; '), { violations })
}

/** The same error, with other names for the fields at fault. */
export function renameFields(error: RosterError, rename: (field: string) => string): RosterError {
  const { code, reason, metadata, retryAfter, replayed, cause, violations: before } = error
  if (before.length === 0) return error
  const violations = before.map(({ field, description }) => ({ field: rename(field), description }))
  const message = error.message === invalid(before).message ? invalid(violations).message : error.message
  const name = Object.keys(codes).find((one) => codes[one as CodeName] === code) as CodeName
  const renamed = new RosterError(name, reason, message, { metadata, violations, retryAfter, cause })
  return Object.assign(renamed, replayed && { replayed })
}

/** The error of a call whose deadline has passed. */
export function deadlineExceeded(cause?: unknown): RosterError {
  return new RosterError('DEADLINE_EXCEEDED', 'DEADLINE_EXCEEDED', 'The deadline passed before there was an answer.', {
    cause,
  })
}
