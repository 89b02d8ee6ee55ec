// Neither id is all zeros, and version ff is forbidden.
const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Whether a text is a `traceparent` as W3C has it: without OpenTelemetry, which may be off. */
export function isTraceparent(text: string | undefined): text is string {
  return text !== undefined && form.test(text)
}
