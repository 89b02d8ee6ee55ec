import type { EventEmitter } from 'node:events'
import { RosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import { type Hold, type Kind, type UnderWay, unreadBytes } from '../rate-limits/under-way.ts'

/** A request, over HTTP/1.1 or on a stream of HTTP/2, before anything is done for it. */
export interface Incoming {
  /** Names and values of its headers, alternating. */
  raw: readonly string[]
  /** How long its address is, where that is none of the headers. */
  addressLength: number
  /** The socket or session: requests of one connection share its budget. */
  connection: object
  /** Emits `close` once the request and its answer are over. */
  ending: EventEmitter
  /** Counts the bytes of it that are in memory. Undefined until it is admitted. */
  hold: Hold | undefined
}

/** Bytes of memory that a request takes besides its head, message and answer. */
const overhead = 4 * 1024
const headLimit = 16 * 1024

/**
 * Admits a request from this client address. INVALID_ARGUMENT HTTP_MALFORMED; UNIMPLEMENTED
 * TRANSFER_ENCODING_UNSUPPORTED; RESOURCE_EXHAUSTED HEADERS_TOO_LARGE, TOO_MUCH_UNDER_WAY.
 */
export function admit({ underWay }: { underWay: UnderWay }, kind: Kind, incoming: Incoming, address: string): Hold {
  const { raw, connection, ending } = incoming
  const hold = underWay.open(kind, connection, address)
  ending.on('close', hold.end)
  const bytes = checkHead(incoming)
  checkTransferEncoding(raw)
  hold.take(bytes + overhead + unreadBytes)
  return (incoming.hold = hold)
}

/** How much a request may send, and in which time. */
export interface Allowance {
  /** The most bytes of its message. */
  bytes: number
  /** Milliseconds within which the whole body must arrive. */
  patience: number
  hold: Hold
}

export interface BodySettings {
  PUBLIC_REQUEST_BYTES: number
  REQUEST_TIMEOUT_MS: number
}

/** Admits a call of the method, and gives its allowance: without a token, a client may send little. Errors of `admit`. */
export function admitCall(
  gateway: { underWay: UnderWay; config: BodySettings },
  { access }: Method,
  incoming: Incoming,
  address: string,
): Allowance {
  const isPublic = access.rule === 'public'
  const hold = admit(gateway, isPublic ? 'public' : 'call', incoming, address)
  const { PUBLIC_REQUEST_BYTES, REQUEST_TIMEOUT_MS: patience } = gateway.config
  return { bytes: isPublic ? PUBLIC_REQUEST_BYTES : 1024 * 1024, patience, hold }
}

/**
 * The length of a request's head. INVALID_ARGUMENT HTTP_MALFORMED where it names its host twice, or with characters that
 * no host name has; RESOURCE_EXHAUSTED HEADERS_TOO_LARGE.
 */
export function checkHead({ raw, addressLength }: Pick<Incoming, 'raw' | 'addressLength'>): number {
  checkHost(raw)
  let bytes = addressLength
  for (const part of raw) bytes += part.length
  // Node's HTTP/1.1 parser has refused much longer heads already, but a head over HTTP/2 may have any length.
  if (bytes > headLimit) throw headersTooLarge()
  return bytes
}

function checkHost(raw: readonly string[]): void {
  const hosts: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!
    if (name === ':authority' || (name.length === 4 && name.toLowerCase() === 'host')) hosts.push(raw[at + 1]!)
  }
  const isTwice = hosts.length > 1 && (raw[0]?.[0] !== ':' || hosts.some((host) => host !== hosts[0]))
  if (isTwice || hosts.some((host) => !/^[\w.\-~!$&'()*+,;=:%[\]]*$/.test(host))) throw hostMalformed()
}

/** UNIMPLEMENTED TRANSFER_ENCODING_UNSUPPORTED for a body that is coded otherwise than in chunks. */
function checkTransferEncoding(raw: readonly string[]): void {
  for (let at = 0; at < raw.length; at += 2)
    if (raw[at]!.length === 17 && raw[at]!.toLowerCase() === 'transfer-encoding' && !/^chunked$/i.test(raw[at + 1]!))
      throw new RosterError(
        'UNIMPLEMENTED',
        'TRANSFER_ENCODING_UNSUPPORTED',
        'The header transfer-encoding must say chunked and nothing else.',
      )
}

function hostMalformed() {
  return new RosterError(
    'INVALID_ARGUMENT',
    'HTTP_MALFORMED',
    'The request must name its host once, with a valid host name.',
  )
}

/** The error of a request whose path and headers are too long. */
export function headersTooLarge(): RosterError {
  const text = 'The path and headers of the request have more than 16 KiB.'
  return new RosterError('RESOURCE_EXHAUSTED', 'HEADERS_TOO_LARGE', text)
}
