import type { IncomingHttpHeaders } from 'node:http'
import { invalid, RosterError } from '#lib/errors'

/** Gives the value of a header, or of metadata, by its lower-case name. INVALID_ARGUMENT HEADER_REPEATED. */
export type Header = (name: string) => string | undefined

const none: ReadonlySet<string> = new Set()

/** These headers may come twice: they are lists, or a malformed one is ignored. */
const lists = new Set([
  'x-forwarded-for',
  'x-request-id',
  'traceparent',
  'accept-encoding',
  'grpc-accept-encoding',
  'connect-accept-encoding',
])

/**
 * Reads headers, or metadata, that have one value. It refuses a header that comes twice: a proxy may take the first
 * value where this gateway takes the last. `raw` is names and values in turn.
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

/**
 * INVALID_ARGUMENT HTTP_MALFORMED for a request that names its host twice, or with characters that no host name has.
 */
export function checkHost(raw: readonly string[]): void {
  const hosts: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!
    if (name === ':authority' || (name.length === 4 && name.toLowerCase() === 'host')) hosts.push(raw[at + 1]!)
  }
  const isTwice = hosts.length > 1 && (raw[0]?.[0] !== ':' || hosts.some((host) => host !== hosts[0]))
  if (isTwice || hosts.some((host) => !/^[\w.\-~!$&'()*+,;=:%[\]]*$/.test(host))) throw hostMalformed()
}

/** UNIMPLEMENTED TRANSFER_ENCODING_UNSUPPORTED for a body that is coded otherwise than in chunks. */
export function checkTransferEncoding(raw: readonly string[]): void {
  for (let at = 0; at < raw.length; at += 2)
    if (raw[at]!.length === 17 && raw[at]!.toLowerCase() === 'transfer-encoding' && !/^chunked$/i.test(raw[at + 1]!))
      throw new RosterError(
        'UNIMPLEMENTED',
        'TRANSFER_ENCODING_UNSUPPORTED',
        'The header transfer-encoding must say chunked and nothing else.',
      )
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

function hostMalformed() {
  return new RosterError(
    'INVALID_ARGUMENT',
    'HTTP_MALFORMED',
    'The request must name its host once, with a valid host name.',
  )
}
