// Neither id is all zeros, and version ff is forbidden.
const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Whether a text is a `traceparent` as W3C has it. */
export function isTraceparent(text: string | undefined): text is string {
  return text !== undefined && form.test(text)
}

/** The id of its trace. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35)
}

/** The id of the span that it names. */
export function spanIdOf(traceparent: string): string {
  return traceparent.slice(36, 52)
}

/** Whether that span is sampled: the last bit of the flags. */
export function isSampled(traceparent: string): boolean {
  return '13579bdf'.includes(traceparent[54]!)
}
