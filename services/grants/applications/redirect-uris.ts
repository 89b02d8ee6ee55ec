import { OIDCAppType } from '#gen/roster/grants/v1/application_service'
import { faultOfPattern } from './host-pattern.ts'

/** What the rules of a URI depend on. */
export interface UriRules {
  appType: OIDCAppType
  devMode: boolean
  /** The application came from another system, with its client id. */
  isKept: boolean
  /** With `devMode`, the first label of the host may be `*`. Missing: never. */
  mayBePattern?: true
}

/**
 * The fault of a URI that a person may be sent to; undefined where it has none. The text itself is later compared and
 * sent, so nothing is repaired here: what a browser would read in another way is refused.
 */
export function faultOfUri(uri: string, rules: UriRules): string | undefined {
  if (!/^[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=%-]+$/.test(uri) || /%(?![0-9A-Fa-f]{2})/.test(uri))
    return 'must be a URI of the characters that RFC 3986 has, others percent-encoded'
  if (uri.includes('#')) return 'must not have a fragment'
  const [, scheme, authority] = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?]*))?/.exec(uri) ?? []
  if (scheme === undefined) return 'must begin with https://'
  if (authority?.includes('@')) return 'must not name a user'
  if (scheme === 'https' && rules.mayBePattern && authority?.includes('*'))
    return faultOfPattern(authority, rules.devMode) ?? faultOfUri(uri.replace('*', 'label'), rules)
  if (scheme === 'https') return isHost(authority, uri) ? undefined : 'must have a host after https://'
  const isNative = rules.appType === OIDCAppType.OIDC_APP_TYPE_NATIVE
  if (scheme === 'http') {
    if (!isNative && !rules.devMode) return 'must be https; with devMode also http to localhost, 127.0.0.1 or [::1]'
    return ownMachine.test(authority ?? '') && URL.canParse(uri)
      ? undefined
      : 'must be https, or http to localhost, 127.0.0.1 or [::1]'
  }
  return isNative ? faultOfScheme(scheme, rules) : 'must be https'
}

// Exactly these spellings: others that mean the same machine could be compared in more than one way.
const ownMachine = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

function isHost(authority: string | undefined, uri: string): boolean {
  return /^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d+)?$/.test(authority ?? '') && URL.canParse(uri)
}

// RFC 8252, 8.4: a scheme without a dot belongs to nobody, so any other application may take it.
function faultOfScheme(scheme: string, { isKept }: UriRules): string | undefined {
  if (known.has(scheme) || /^(web\+|ms-|chrome|moz-)|-extension$/.test(scheme))
    return 'must not have a scheme that browsers know'
  return isKept || scheme.includes('.') ? undefined : 'must have a scheme with a dot, such as com.example.app:'
}

// Those that a browser runs, opens, or hands to a program that is not the application.
const known = new Set(
  [
    'about android-app blob content data edge feed file filesystem ftp ftps intent jar javascript livescript mocha',
    'opera res resource vbscript view-source ws wss',
    'bitcoin geo im irc ircs magnet mailto matrix mms news nntp openpgp4fpr sftp sip sips sms smsto ssh tel telnet urn',
    'webcal wtai xmpp',
  ].flatMap((line) => line.split(' ')),
)
