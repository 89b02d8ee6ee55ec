import type { IncomingHttpHeaders } from 'node:http'

export interface Cors {
  /** The headers by which a page of this origin may read the answer. */
  headers(origin: string | undefined): Record<string, string>
  /** The headers of the answer to a preflight; undefined when the request is none. */
  preflight(method: string | undefined, headers: IncomingHttpHeaders): Record<string, string> | undefined
}

const exposed = [
  'grpc-status',
  'grpc-message',
  'grpc-status-details-bin',
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
  'traceparent',
  'tracestate',
  'connect-protocol-version',
].join(', ')

/** Cross-origin access, never with the browser's credentials: for the given origins, or for any when none is given. */
export function createCors(origins: string[]): Cors {
  const any = origins.length === 0 || origins.includes('*')
  const headers = (origin: string | undefined): Record<string, string> => {
    if (origin === undefined || !(any || origins.includes(origin))) return { vary: 'Origin' }
    return {
      vary: 'Origin',
      'access-control-allow-origin': any ? '*' : origin,
      'access-control-expose-headers': exposed,
    }
  }
  return {
    headers,
    preflight(method, { origin, 'access-control-request-method': asked }) {
      if (method !== 'OPTIONS' || origin === undefined || asked === undefined) return undefined
      return {
        ...headers(origin),
        vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
        'access-control-allow-headers': accepted,
        'access-control-max-age': '7200',
      }
    },
  }
}
