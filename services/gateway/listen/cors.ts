import type { IncomingHttpHeaders } from 'node:http'

/** The origins whose pages may read what a path answers. `named`: those of CORS_ORIGINS, and none where it is empty. */
export type Readers = 'none' | 'named' | 'configured' | 'any'

export interface Cors {
  /** Gives the headers that let a page of this origin read the answer. */
  headers(origin: string | undefined, readers: Readers): Record<string, string>
  /** Gives the headers of the answer to a preflight. Undefined where the request is none, or where there are no readers. */
  preflight(
    method: string | undefined,
    headers: IncomingHttpHeaders,
    readers: Readers,
  ): Record<string, string> | undefined
}

const exposed = [
  'grpc-status',
  'grpc-message',
  'grpc-status-details-bin',
  'grpc-encoding',
  'connect-content-encoding',
  'x-request-id',
  'etag',
  'retry-after',
  'www-authenticate',
  'deprecation',
  'idempotent-replayed',
].join(', ')

const accepted = [
  'authorization',
  'dpop',
  'content-type',
  'x-service-orgid',
  'x-zitadel-orgid',
  'x-request-id',
  'x-request-timeout',
  'x-grpc-web',
  'x-user-agent',
  'grpc-timeout',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'traceparent',
  'tracestate',
  'connect-protocol-version',
  'connect-timeout-ms',
  'content-encoding',
  'connect-content-encoding',
  'connect-accept-encoding',
  'grpc-encoding',
  'grpc-accept-encoding',
].join(', ')

/** Whether the configured origins name this one. `*` names none. */
export function isNamed(origins: string[], origin: string): boolean {
  return origin !== '*' && origins.includes(origin)
}

/**
 * Allows cross-origin access, without the browser's credentials, to the given origins. Without any, all may have it.
 */
export function createCors(origins: string[]): Cors {
  const anyConfigured = origins.length === 0 || origins.includes('*')
  const headers = (origin: string | undefined, readers: Readers): Record<string, string> => {
    if (readers === 'none') return {}
    const any = readers === 'any' || (readers === 'configured' && anyConfigured)
    if (origin === undefined || !(any || isNamed(origins, origin))) return { vary: 'Origin' }
    return {
      vary: 'Origin',
      'access-control-allow-origin': any ? '*' : origin,
      'access-control-expose-headers': exposed,
    }
  }
  return {
    headers,
    preflight(method, { origin, 'access-control-request-method': asked }, readers) {
      if (method !== 'OPTIONS' || origin === undefined || asked === undefined || readers === 'none') return undefined
      return {
        ...headers(origin, readers),
        vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
        'access-control-allow-headers': accepted,
        'access-control-max-age': '7200',
      }
    },
  }
}
