import type { Method } from '#lib/rpc/methods'
import type { Allowance, Incoming } from '../listen/admission.ts'
import type { Header } from '../listen/headers.ts'
import type { Gateway } from './gateway.ts'

export type Encoding = 'json' | 'oauth' | 'grpc' | 'grpc-web' | 'connect' | 'page'

/** A call as its protocol hands it over. */
export interface Arrival {
  method: Method
  encoding: Encoding
  requestId: string
  /** The HTTP verb, and the path without query, as the client sent them. */
  verb: string
  path: string
  header: Header
  /** Reads the access token where the body has it. Undefined where the header `Authorization` alone may have it. */
  readToken?(allowance: Allowance): Promise<string | undefined>
  /** The request that brought it. It is not admitted yet. */
  incoming: Incoming
  /** Reads how many milliseconds the client gives the call. INVALID_ARGUMENT TIMEOUT_MALFORMED. */
  timeout(header: Header): number | undefined
  /** The client's address as limits count it: see `ClientAddresses`. */
  clientAddress: string
  /** Aborted once the client went away. */
  signal: AbortSignal
}

/** A call on its way through the gateway: it is admitted, identified, sent to its service, and written into the log. */
export interface ArrivedCall {
  gateway: Gateway
  arrival: Arrival
  /** When it arrived, on the clock of `performance`. */
  started: number
  /** The access token that came in the body. */
  token?: string | undefined
  /** The caller, for the log. Empty until `identify` has proved it. */
  userId: string
  /** The organization that the caller belongs to. Empty until then. */
  home: string
  /** The organization that a field of the request names for the call. */
  actsIn?: string
  /** The method, for the log. The request may choose another one than the path. */
  subject: string
  /** A stream that was open for as long as it may be. Its client gets an error, but nothing failed. */
  hasLasted?: boolean
}
