import { RosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import { isNamed } from '../listen/cors.ts'
import type { Header } from '../listen/headers.ts'

export interface OriginSettings {
  PUBLIC_URL: string
  CORS_ORIGINS: string[]
}

/**
 * Refuses a call that a page of another origin makes without a token, where CORS_ORIGINS does not name that: otherwise
 * any page could let its visitors guess passwords and codes from their addresses, also without reading the answers. A
 * program that is no browser sends no Origin. PERMISSION_DENIED ORIGIN_REFUSED.
 */
export function checkOrigin(settings: OriginSettings, { namedOrigins }: Method, header: Header): void {
  if (!namedOrigins) return
  const origin = header('origin')
  if (origin === undefined || isNamed(settings.CORS_ORIGINS, origin)) return
  if (origin === new URL(settings.PUBLIC_URL).origin) return
  const message =
    'Pages of this origin may not call the operation: it is not that of PUBLIC_URL, and not in CORS_ORIGINS.'
  throw new RosterError('PERMISSION_DENIED', 'ORIGIN_REFUSED', message)
}
