/** A case that fails, and must: the test fails where one of them passes. */
export interface Exception {
  /** A pattern of the suite: `**` stands for any number of parts of a name. */
  cases: string
  reason: string
}

const notConnect =
  'Nothing in the request shows that it is Connect, so the 405 or 415 has the usual JSON. The suite takes all JSON for errors of Connect.'
const hasCode =
  'The 405 or 415 has its code and reason. The suite wants the code `unknown`, which a client makes of an answer without one.'

export const exceptions: Exception[] = [
  { cases: 'Unexpected Requests/**/unexpected-content-type', reason: notConnect },
  { cases: 'gRPC Unexpected Requests/**/unexpected-codec', reason: notConnect },
  { cases: 'gRPC Unexpected Requests/**/unexpected-verb', reason: notConnect },
  { cases: 'gRPC-Web Unexpected Requests/**/unexpected-codec', reason: notConnect },
  { cases: 'gRPC-Web Unexpected Requests/**/unexpected-verb', reason: notConnect },
  { cases: 'Connect Unexpected Requests/**/unexpected-codec', reason: hasCode },
  { cases: 'Connect Unexpected Requests/**/unexpected-verb', reason: hasCode },
]
