import type { JsonObject, JsonValue } from '@bufbuild/protobuf'
import type { Operation } from '../../examples/contract.ts'

/** One call in one encoding. */
export type Call = (operation: Operation, request?: JsonObject, options?: CallOptions) => Promise<Answer>

export interface CallOptions {
  /** The bearer token; undefined for a call without one. */
  token?: string | undefined
  /** x-service-orgid. */
  organization?: string | undefined
  /** Further headers or metadata. */
  headers?: Record<string, string>
  /** Default: the Roster of the run. */
  url?: string
}

/** The answer in canonical JSON, for every encoding. */
export interface Answer {
  /** The response; undefined for an error. */
  ok: any
  /** The `google.rpc.Status`; undefined for a response. */
  error: Status | undefined
  /** The HTTP status; 0 in gRPC, because its library does not show it. */
  http: number
  /** Headers and trailers, or metadata, by lower-case name. */
  headers: Record<string, string>
}

export interface Status {
  code: number
  message: string
  details: StatusDetail[]
}

export type StatusDetail = { '@type': string } & Record<string, JsonValue>

/** The facts of a Status that programs use. */
export function factsOf({ error }: Answer) {
  const find = (name: string) => error?.details.find((detail) => detail['@type'].endsWith(`.${name}`))
  const violations = (find('BadRequest')?.['fieldViolations'] ?? []) as { field: string; description: string }[]
  return {
    code: error?.code ?? 0,
    reason: find('ErrorInfo')?.['reason'] as string | undefined,
    metadata: (find('ErrorInfo')?.['metadata'] ?? {}) as Record<string, string>,
    fields: violations.map(({ field }) => field ?? ''),
    violations,
    retryDelay: find('RetryInfo')?.['retryDelay'] as string | undefined,
  }
}
