import type { IncomingMessage } from 'node:http'
import type { DescMessage } from '@bufbuild/protobuf'
import { From } from '#gen/roster/options/v1/options'
import { RosterError } from '#lib/errors'
import { fromOf } from './from.ts'

/**
 * Refuses a request of a page that no person's click has sent, or a form that no page of ours has. The browser says so;
 * where it does not, the cookie and the form's token decide. FAILED_PRECONDITION HOST_OTHER for one that names another
 * host than PUBLIC_URL; PERMISSION_DENIED PAGE_REFUSED.
 */
export function checkSender({ method, headers }: IncomingMessage, input: DescMessage, publicUrl: string): void {
  const { hostname, origin } = new URL(publicUrl)
  const host = hostNamedBy(headers)
  // Some proxies leave out the port.
  if (host === undefined || URL.parse(`http://${host}`)?.hostname !== hostname) throw otherHost()
  // Showing a page may use up its request.
  if (isPrefetch(headers)) throw refused()
  // What asks whether it was posted may be posted by any site.
  if (method !== 'POST' || input.fields.some((field) => fromOf(field) === From.FROM_POST)) return
  if (headers.origin !== undefined && headers.origin !== origin) throw refused()
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') throw refused()
}

/** Whether a browser asks in advance, for nobody. */
export function isPrefetch(headers: IncomingMessage['headers']): boolean {
  return /prefetch/i.test(`${String(headers['sec-purpose'])} ${String(headers['purpose'])}`)
}

/** The host that the request names, as it came; undefined where it names none. */
export function hostNamedBy(headers: IncomingMessage['headers']): string | undefined {
  return headers.host || headers[':authority']?.toString() || undefined
}

function otherHost() {
  const message = 'The request names another host than that of PUBLIC_URL.'
  return new RosterError('FAILED_PRECONDITION', 'HOST_OTHER', message)
}

function refused() {
  const message = 'The request comes from another site, or in advance.'
  return new RosterError('PERMISSION_DENIED', 'PAGE_REFUSED', message)
}
