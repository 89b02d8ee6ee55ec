/** A case that fails, and must: the test fails where one of them passes. */
export interface Exception {
  /** A pattern of the suite: `**` stands for any number of parts of a name. */
  cases: string
  reason: string
}

const notConnect =
  'A 405 or 415 in JSON, which this client does not read. The suite takes all JSON for errors of Connect.'
// The gateway's own faults. A row goes once the fault is mended.
const notInForm = 'A 405 or 415 to a client of Connect is not in the form of Connect.'
const noHead = 'A stream without messages has no head of its own, and grpc-go takes it for trailers.'

export const exceptions: Exception[] = [
  { cases: 'gRPC Unexpected Requests/**/unexpected-codec', reason: notConnect },
  { cases: 'gRPC Unexpected Requests/**/unexpected-verb', reason: notConnect },
  { cases: 'gRPC-Web Unexpected Requests/**/unexpected-codec', reason: notConnect },
  { cases: 'gRPC-Web Unexpected Requests/**/unexpected-verb', reason: notConnect },
  { cases: 'Unexpected Requests/**/Protocol:PROTOCOL_GRPC/**/unexpected-content-type', reason: notConnect },
  { cases: 'Unexpected Requests/**/Protocol:PROTOCOL_GRPC_WEB/**/unexpected-content-type', reason: notConnect },
  { cases: 'Unexpected Requests/**/Protocol:PROTOCOL_CONNECT/**/unexpected-content-type', reason: notInForm },
  { cases: 'Connect Unexpected Requests/**/unexpected-codec', reason: notInForm },
  { cases: 'Connect Unexpected Requests/**/unexpected-verb', reason: notInForm },
  { cases: 'Basic/**/(grpc client impl)/server-stream/no-responses', reason: noHead },
  { cases: 'Duplicate Metadata/**/(grpc client impl)/server-stream/error-with-no-responses', reason: noHead },
  { cases: 'Duplicate Metadata/**/(grpc client impl)/server-stream/no-response', reason: noHead },
  { cases: 'Errors/**/(grpc client impl)/server-stream/error-with-metadata', reason: noHead },
  { cases: 'Errors/**/(grpc client impl)/server-stream/error-with-no-responses', reason: noHead },
]
