import { BriefMap } from '#lib/brief-map'
import { RosterError } from '#lib/errors'
import { limitsHit } from '#lib/limits-hit'
import { bytesUnderWay } from '../measures.ts'

/**
 * The kind of a request: `call` shows a token, `public` needs none, and `watch` is a stream that any client may keep open.
 * Each kind has a share of its own, so that clients without a token never take the place of clients with one.
 */
export type Kind = keyof typeof shares

/** Counts the bytes of requests and answers that are in memory. */
export interface UnderWay {
  /** Begins to count for a request from this address over this connection. */
  open(kind: Kind, connection: object, address: string): Hold
}

export interface Hold {
  /** Counts bytes. Where they are too many, they do not count: RESOURCE_EXHAUSTED TOO_MUCH_UNDER_WAY. */
  take(bytes: number): void
  /** Counts bytes, even where they are too many: the next request is refused for them. */
  add(bytes: number): void
  /** Gives all bytes back. Call it once: what is counted or given back later changes nothing. */
  end(): void
}

/** Bytes of a body that may arrive before the gateway reads it: the window that each HTTP/2 stream is given unasked. */
export const unreadBytes = 16 * 1024

/** The largest part of all bytes that each kind may have. */
const shares = { call: 1, public: 1 / 2, watch: 1 / 8 }
/** The largest part of a share that one address may have. */
const ofAddress = 1 / 8

/** Counts up to `inAll` bytes, and up to `perConnection` for each connection. */
export function createUnderWay({ inAll, perConnection }: { inAll: number; perConnection: number }): UnderWay {
  const connections = new WeakMap<object, Count>()
  const addresses = {
    call: new BriefMap<string, Users>(),
    public: new BriefMap<string, Users>(),
    watch: new BriefMap<string, Users>(),
  }
  const all = { bytes: 0, most: inAll }
  bytesUnderWay.watch(() => all.bytes)
  const kinds = { call: all, public: countTo(inAll * shares.public), watch: countTo(inAll * shares.watch) }

  function countOf(connection: object): Count {
    const known = connections.get(connection)
    if (known) return known
    const count = countTo(perConnection)
    connections.set(connection, count)
    return count
  }

  return {
    open(kind, connection, address) {
      const known = addresses[kind]
      const here = known.get(address) ?? { bytes: 0, most: inAll * shares[kind] * ofAddress, users: 0 }
      if (here.users++ === 0) known.set(address, here)
      const connected = countOf(connection)
      const counts = kind === 'call' ? [all, here, connected] : [all, kinds[kind], here, connected]
      let [held, ended] = [0, false]
      const add = (bytes: number) => {
        if (ended) return
        held += bytes
        for (const count of counts) count.bytes += bytes
      }
      return {
        take(bytes) {
          if (counts.some((count) => count.bytes + bytes > count.most)) throw tooMuchUnderWay()
          add(bytes)
        },
        add,
        end() {
          add(-held)
          ended = true
          if (--here.users === 0) known.delete(address)
        },
      }
    },
  }
}

interface Count {
  bytes: number
  most: number
}

/** The bytes of an address, and how many of its requests are counted. */
interface Users extends Count {
  users: number
}

function countTo(most: number): Count {
  return { bytes: 0, most }
}

function tooMuchUnderWay(): RosterError {
  limitsHit.add(1, 'bytes')
  const message = 'Too many bytes of requests are already under way. Try again when some of them are answered.'
  return new RosterError('RESOURCE_EXHAUSTED', 'TOO_MUCH_UNDER_WAY', message, { retryAfter: 1 })
}
