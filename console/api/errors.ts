/** What a call was refused with, as the API says it. */
export class ApiError extends Error {
  /** Connect's name of the code, such as `permission_denied`. */
  code: string
  /** Such as `USER_NOT_FOUND`. Empty where the answer names none. */
  reason: string
  metadata: Record<string, string>
  violations: Violation[]
  requestId: string

  constructor(facts: Pick<ApiError, 'message' | 'code' | 'reason' | 'metadata' | 'violations' | 'requestId'>) {
    super(facts.message)
    this.code = facts.code
    this.reason = facts.reason
    this.metadata = facts.metadata
    this.violations = facts.violations
    this.requestId = facts.requestId
  }
}

/** A field, by its path in JSON, and what is wrong with it. */
export interface Violation {
  field: string
  description: string
}

interface Detail {
  type?: string
  debug?: {
    reason?: string
    metadata?: Record<string, string>
    fieldViolations?: { field?: string; description?: string }[]
  }
  // Errors of the paths below /ui/console have the form of google.rpc.Status.
  '@type'?: string
  reason?: string
  metadata?: Record<string, string>
}

/** Reads a refusal. What is no answer of Roster, such as a proxy's page, becomes one without a reason. */
export async function readError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('x-request-id') ?? ''
  const body = (await response.json().catch(() => ({}))) as { code?: unknown; message?: string; details?: Detail[] }
  const details = body.details ?? []
  const info = details.find(({ type = '', '@type': url = '' }) => (type + url).endsWith('google.rpc.ErrorInfo'))
  const fields = details.flatMap(({ debug }) => debug?.fieldViolations ?? [])
  return new ApiError({
    message: body.message ?? `${response.status} ${response.statusText}`,
    code: typeof body.code === 'string' ? body.code : codeOf(response.status),
    reason: info?.debug?.reason ?? info?.reason ?? '',
    metadata: info?.debug?.metadata ?? info?.metadata ?? {},
    violations: fields.map(({ field = '', description = '' }) => ({ field, description })),
    requestId,
  })
}

/** The error of a request that got no answer. */
export function unreachable(): ApiError {
  const facts = { message: '', code: 'unavailable', reason: 'UNREACHABLE', metadata: {}, violations: [], requestId: '' }
  return new ApiError(facts)
}

function codeOf(status: number): string {
  if (status === 401) return 'unauthenticated'
  if (status === 403) return 'permission_denied'
  if (status === 404) return 'not_found'
  return status >= 500 ? 'unavailable' : 'unknown'
}
