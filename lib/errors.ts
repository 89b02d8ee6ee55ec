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

/** A field that is at fault: its path in JSON spelling, and what is wrong with it. */
export interface Violation {
  field: string
  description: string
}

export interface ErrorDetails {
  /** Facts for programs. No secret, no address. */
  metadata?: Record<string, string>
  violations?: Violation[]
  /** Seconds after which it makes sense to ask again. */
  retryAfter?: number | undefined
  cause?: unknown
}

/**
 * The one error of Roster. `reason` is stable UPPER_SNAKE_CASE and listed in docs/errors.md; `message` is public;
 * `cause` goes to the log only.
 */
export class RosterError extends Error {
  override readonly name = 'RosterError'
  readonly code: Code
  readonly reason: string
  readonly metadata: Record<string, string>
  readonly violations: Violation[]
  /** It was answered before, to the same request with the same Idempotency-Key. */
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

/** What is not one of ours becomes INTERNAL: its cause is for the log, never for the caller. */
export function toRosterError(error: unknown): RosterError {
  if (error instanceof RosterError) return error
  return new RosterError('INTERNAL', 'INTERNAL', 'An internal error occurred.', { cause: error })
}

/** RESOURCE_EXHAUSTED: there may be no more than `most` of what the limit is named after, such as `project.roles`. */
export function limitReached(limit: string, most: number, message: string): RosterError {
  return new RosterError('RESOURCE_EXHAUSTED', 'LIMIT_REACHED', message, { metadata: { limit, most: String(most) } })
}

/** INVALID_ARGUMENT for the given fields: all of them in one answer. */
export function invalid(violations: Violation[], reason = 'VALIDATION_FAILED'): RosterError {
  const fields = violations.map((violation) => `${violation.field}: ${violation.description}`)
  return new RosterError('INVALID_ARGUMENT', reason, fields.join('; '), { violations })
}

/** The error of a call whose time is over. */
export function deadlineExceeded(cause?: unknown): RosterError {
  return new RosterError('DEADLINE_EXCEEDED', 'DEADLINE_EXCEEDED', 'The deadline passed before the answer was there.', {
    cause,
  })
}
