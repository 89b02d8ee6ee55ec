import { RosterError } from '#lib/errors'

/**
 * What a request is: a call of somebody who shows a token, one that anybody may make, or a stream that anybody may keep open. Each kind
 * has a share of its own, so that those who show nothing never take the place of those who do.
 */
export type Kind = keyof typeof shares

/** Counts the bytes of requests and answers that are in memory. */
export interface UnderWay {
  /** Begins to count for a request from this address over this connection. */
  open(kind: Kind, connection: object, address: string): Hold
}

/** The bytes of one request and its answer. */
export interface Hold {
  /** Counts bytes. RESOURCE_EXHAUSTED TOO_MUCH_UNDER_WAY where they are too many; then they do not count. */
  take(bytes: number): void
  /** Counts bytes, however many there are: it is the next request that is refused. */
  add(bytes: number): void
  /** Gives all of it back. To be called once. */
  end(): void
}

/** Bytes that may have come of a body before anybody reads it: what a stream of HTTP/2 may send unasked. */
export const unreadBytes = 16 * 1024

/** Parts of all bytes that a kind may have at most. */
const shares = { call: 1, public: 1 / 2, watch: 1 / 8 }
/** Part of a share that one address may have. */
const ofAddress = 1 / 8

/** Counts up to `inAll` bytes, and up to `perConnection` for each connection. */
export function createUnderWay({ inAll, perConnection }: { inAll: number; perConnection: number }): UnderWay {
  const connections = new WeakMap<object, Count>()
  const addresses = {
    call: new Map<string, Users>(),
    public: new Map<string, Users>(),
    watch: new Map<string, Users>(),
  }
  const all = { bytes: 0, most: inAll }
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
      let held = 0
      const add = (bytes: number) => {
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

/** What an address has, and how many requests of it are counted. */
interface Users extends Count {
  users: number
}

function countTo(most: number): Count {
  return { bytes: 0, most }
}

function tooMuchUnderWay(): RosterError {
  const message = 'Too many bytes of requests are being read already; try again when some have been answered.'
  return new RosterError('RESOURCE_EXHAUSTED', 'TOO_MUCH_UNDER_WAY', message, { retryAfter: 1 })
}
