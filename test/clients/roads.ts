import { inject } from 'vitest'

/** A way from a client to Roster. */
export interface Road {
  name: 'plain' | 'TLS' | 'behind nginx'
  /** For example `https://localhost:20123`. */
  url: string
  /** The file of the certificate that the client must trust; empty on a plain road. */
  certificate: string
}

/** What a test needs to put a proxy of its own in front of the Roster of the run. */
export interface BehindProxies {
  /** A gateway that trusts one proxy, such as `127.0.0.1:20123`. */
  gateway: string
  /** Starts another one by `services/gateway/main.ts`, with a PORT. */
  environment: Record<string, string>
  /** Files of a certificate for localhost and of its key. */
  cert: string
  key: string
}

declare module 'vitest' {
  interface ProvidedContext {
    roads: Road[]
    behindProxies: BehindProxies
  }
}

/** All roads to the Roster of the run. A road is missing where the machine lacks the proxy. */
export function roads(): Road[] {
  return inject('roads')
}
