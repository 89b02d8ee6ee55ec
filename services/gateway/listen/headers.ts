import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { invalid } from '#lib/errors'

/** Gives the value of a header, or of metadata, by its lower-case name. INVALID_ARGUMENT HEADER_REPEATED. */
export type Header = (name: string) => string | undefined

const none: ReadonlySet<string> = new Set()

/** These headers may come twice: they are lists, or a malformed one is ignored. */
const lists = new Set([
  'x-forwarded-for',
  'x-request-id',
  'user-agent',
  'traceparent',
  'accept-encoding',
  'grpc-accept-encoding',
  'connect-accept-encoding',
  // HTTP/2 splits it. Two cookies of one name count as none.
  'cookie',
])

/**
 * Reads headers, or metadata, that have one value. It refuses a header that comes twice: a proxy may take the first
 * value where this gateway takes the last. `raw` is names and values, alternating.
 */
export function readHeaders(headers: IncomingHttpHeaders, raw: readonly string[]): Header {
  let repeated: ReadonlySet<string> | undefined
  return (name) => {
    // With as many lines as names, no name comes twice.
    repeated ??= Object.keys(headers).length * 2 === raw.length ? none : findRepeated(raw)
    if (repeated.has(name) && !lists.has(name))
      throw invalid([{ field: name, description: 'is a header that must come once' }], 'HEADER_REPEATED')
    const value = headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
}

function findRepeated(raw: readonly string[]): Set<string> {
  const [seen, repeated] = [new Set<string>(), new Set<string>()]
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase()
    if (seen.has(name)) repeated.add(name)
    seen.add(name)
  }
  return repeated
}

const longestUserAgent = 512

/** What a client says of itself: printable ASCII, and not more than browsers say. */
export function userAgentOf(header: Header): string {
  return (header('user-agent') ?? '').slice(0, longestUserAgent).replace(/[^\x20-\x7e]/g, '')
}

/** The request id that the client sent where it is 1 to 128 visible ASCII characters, else a new one. */
export function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && /^[\x21-\x7e]{1,128}$/.test(sent) ? sent : randomUUID()
}
