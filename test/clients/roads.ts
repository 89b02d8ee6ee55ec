import { inject } from 'vitest'

/** A way from a client to Roster. */
export interface Road {
  name: 'plain' | 'TLS' | 'behind nginx'
  /** For example `https://localhost:20123`. */
  url: string
  /** The file of the certificate that the client must trust; empty on a plain road. */
  certificate: string
}

declare module 'vitest' {
  interface ProvidedContext {
    roads: Road[]
  }
}

/** All roads to the Roster of the run. A road is missing where the machine lacks the proxy. */
export function roads(): Road[] {
  return inject('roads')
}
