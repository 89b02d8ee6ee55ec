import { RosterError } from '#lib/errors'
import { type Hold, type Kind, type UnderWay, unreadBytes } from '../rate-limits/under-way.ts'
import { checkHost, checkTransferEncoding } from './headers.ts'

/** Where a request came from, and its head. */
export interface Origin {
  /** The socket or session: requests of one connection share its budget. */
  connection: object
  /** The client's address as limits count it. */
  address: string
  /** Names and values of its headers in turn. */
  raw: readonly string[]
}

/** Bytes of memory that a request takes besides its head, message and answer. */
const overhead = 4 * 1024
const headLimit = 16 * 1024

/**
 * Lets a request in. The hold counts its bytes from now on. `ended` gets the function that ends the hold, even where
 * this throws later, and must run it once. INVALID_ARGUMENT HTTP_MALFORMED; UNIMPLEMENTED
 * TRANSFER_ENCODING_UNSUPPORTED; RESOURCE_EXHAUSTED HEADERS_TOO_LARGE, TOO_MUCH_UNDER_WAY.
 */
export function admit(
  { underWay }: { underWay: UnderWay },
  kind: Kind,
  { connection, address, raw }: Origin,
  ended: (end: () => void) => void,
): Hold {
  const hold = underWay.open(kind, connection, address)
  ended(hold.end)
  checkHost(raw)
  checkTransferEncoding(raw)
  let bytes = 0
  for (const part of raw) bytes += part.length
  // Node's HTTP/1.1 parser has refused longer heads already, but a head over HTTP/2 may have any length.
  if (bytes > headLimit)
    throw new RosterError(
      'RESOURCE_EXHAUSTED',
      'HEADERS_TOO_LARGE',
      'The path and headers of the request have more than 16 KiB.',
    )
  hold.take(bytes + overhead + unreadBytes)
  return hold
}
