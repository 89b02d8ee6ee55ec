import { OIDCAppType } from '#gen/roster/grants/v1/application_service'
import type { OidcCopy } from '../applications/application-copy.ts'

/** What stands between the loopback host and the path may be any port (RFC 8252 section 7.3). */
const loopback = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?((?:[/?].*)?)$/

/**
 * Whether a redirect URI is registered: byte for byte, but for the port of a native application on its own machine, and
 * for one label that a pattern leaves open in development.
 */
export function isRegistered(
  uri: string,
  { redirectUris, appType, devMode }: Pick<OidcCopy, 'redirectUris' | 'appType' | 'devMode'>,
): boolean {
  if (
    redirectUris.some((registered) => (isPattern(registered) ? devMode && fits(uri, registered) : registered === uri))
  )
    return true
  const asked = appType === OIDCAppType.OIDC_APP_TYPE_NATIVE ? withoutPort(uri) : undefined
  return asked !== undefined && redirectUris.some((registered) => withoutPort(registered) === asked)
}

// What grants lets in of them is in its host-pattern.ts.
function isPattern(registered: string): boolean {
  return registered.startsWith('https://*')
}

/** One label of letters, digits and hyphens, which no browser reads in another way. */
const oneLabel = /^(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

function fits(uri: string, pattern: string): boolean {
  const [scheme, rest] = ['https://', pattern.slice('https://*'.length)]
  if (!rest.startsWith('.') || !uri.startsWith(scheme) || !uri.endsWith(rest)) return false
  return oneLabel.test(uri.slice(scheme.length, -rest.length))
}

/** Whether any program of the machine could be waiting there for a code (RFC 8252 section 8.6). */
export function mayBeAnybodys(uri: string, { appType }: OidcCopy): boolean {
  return appType === OIDCAppType.OIDC_APP_TYPE_NATIVE && !uri.startsWith('https:')
}

/** Where an application can be begun again; empty for a URI with a scheme of its own. */
export function originOf(uri: string): string {
  return /^https?:/.test(uri) ? new URL(uri).origin : ''
}

/** What a person is shown of it. */
export function hostOf(uri: string): string {
  return /^https?:/.test(uri) ? new URL(uri).host : uri.slice(0, uri.indexOf(':'))
}

function withoutPort(uri: string): string | undefined {
  const [, host, port = '80', rest] = loopback.exec(uri) ?? []
  return host !== undefined && Number(port) <= 65_535 ? `${host}${rest}` : undefined
}
