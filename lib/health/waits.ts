import type { Log } from '../log.ts'

/**
 * The servers that a service may have to wait for. For a synchronous standby it is PostgreSQL that waits. A single primary
 * is awaited while two take writes. It stands first, because it is the cause of much else.
 */
const servers = ['SinglePrimary', 'PostgreSQL', 'SynchronousStandby', 'NATS', 'JetStream', 'Redis', 'SMTP'] as const
export type Server = (typeof servers)[number]

/** The servers that a service waits for right now. The log hears of the begin and of the end of each wait, once. */
export interface Waits {
  /**
   * The server does not answer, or not as it should, since now or since an earlier time in milliseconds. Does nothing
   * while the service waits for it already.
   */
  begin(server: Server, error: unknown, at?: number): void
  /** The server answers, or it is no longer needed. Does nothing where the service does not wait. */
  end(server: Server): void
  has(server: Server): boolean
  /** Each server with the time since when, in words that hold no address and no secret. */
  toString(): string
}

/** Reads what `toString` wrote. Leaves out all else. */
export function readWaits(text: string): Partial<Record<Server, string>> {
  const waits: Partial<Record<Server, string>> = {}
  for (const [, server, at] of text.matchAll(/(\w+) (\d{4}-\d\d-\d\dT[\d:.]{8,12}Z)/g))
    if (servers.some((known) => known === server)) waits[server as Server] = at!
  return waits
}

export function createWaits(log: Log): Waits {
  const since = new Map<Server, number>()
  return {
    begin(server, error, at = Date.now()) {
      if (since.has(server)) return
      since.set(server, at)
      log.warn({ server, err: error }, `waiting for ${server}`)
    },
    end(server) {
      const began = since.get(server)
      if (began === undefined) return
      since.delete(server)
      log.info({ server, seconds: (Date.now() - began) / 1000 }, `no longer waiting for ${server}`)
    },
    has: (server) => since.has(server),
    toString: () =>
      servers
        .filter((server) => since.has(server))
        .map((server) => `${server} ${new Date(since.get(server)!).toISOString()}`)
        .join(', '),
  }
}
