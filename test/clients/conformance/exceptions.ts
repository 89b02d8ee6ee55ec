const notConnect =
  'Roster answers 405 or 415 with its error in JSON. The suite takes each JSON for an error of Connect, which this client has not read.'

/** Cases that fail, and must: the test fails where one of them passes. `cases` are patterns of the suite. */
export const exceptions: { cases: string; reason: string }[] = [
  { cases: 'gRPC Unexpected Requests/**/unexpected-codec', reason: notConnect },
  { cases: 'gRPC Unexpected Requests/**/unexpected-verb', reason: notConnect },
  { cases: 'gRPC-Web Unexpected Requests/**/unexpected-codec', reason: notConnect },
  { cases: 'gRPC-Web Unexpected Requests/**/unexpected-verb', reason: notConnect },
  { cases: 'Unexpected Requests/**/Protocol:PROTOCOL_GRPC/**/unexpected-content-type', reason: notConnect },
  { cases: 'Unexpected Requests/**/Protocol:PROTOCOL_GRPC_WEB/**/unexpected-content-type', reason: notConnect },
]
