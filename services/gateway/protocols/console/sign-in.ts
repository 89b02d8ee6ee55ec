import { instance } from '#lib/instance'
import { RosterError, toRosterError } from '#lib/errors'
import type { Gateway } from '../../call/gateway.ts'
import { type Exchange, protective, send } from '../../listen/exchange.ts'
import { addressOf } from '../arrive.ts'
import { chooseLanguage } from '../../pages/login/language/language.ts'
import { html } from '../../pages/login/html.ts'
import { notice } from '../../pages/login/notice.ts'
import { toReply } from '../page/write.ts'
import { consoleOrigin, hashConsoleCookie, readConsoleCookie, writeConsoleCookie } from '../../auth/console-place.ts'
import { beginTransaction, newSecret, openTransaction, readState } from './transaction.ts'

export const signInPath = '/ui/console/sign-in'
export const callbackPath = '/ui/console/callback'
const home = '/ui/console'

/** The scopes of the console. The second lets its authorization act in Roster. */
const scope = 'openid urn:zitadel:iam:org:project:id:zitadel:aud'

/** Begins a sign-in: the browser goes to authorize. */
export function serveSignIn({ config }: Gateway, exchange: Exchange): void {
  const asked = new URLSearchParams(exchange.query)
  const known = readConsoleCookie(exchange.request.headers.cookie, 'tx', config)
  const secret = known ?? newSecret()
  const begun = { to: pathOf(asked.get('to') ?? ''), again: asked.get('again') === '1' }
  const { state, nonce, challenge } = beginTransaction(secret, begun, Date.now())
  const person = asked.get('person') ?? ''
  const parameters = new URLSearchParams({
    client_id: instance.console.clientId,
    redirect_uri: `${consoleOrigin(config)}${callbackPath}`,
    response_type: 'code',
    scope: [scope, hintOf(begun.to, asked.get('org') ?? '')].join(' ').trim(),
    state,
    nonce,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...(asked.get('fresh') === '1' && { prompt: 'login' }),
    ...(/^[\x21-\x7e]{1,200}$/.test(person) && { claims: JSON.stringify({ id_token: { sub: { value: person } } }) }),
  })
  const cookies = [writeConsoleCookie(secret, 'tx', config)]
  redirect(exchange, `${config.PUBLIC_URL}/oauth/v2/authorize?${parameters.toString()}`, cookies)
}

/** Ends a sign-in: the browser gets the cookie of a session, and goes where the person wanted to. */
export async function serveCallback(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { config, consoleSessions, authenticator, rates } = gateway
  const answer = new URLSearchParams(exchange.query)
  const { cookie } = exchange.request.headers
  const state = answer.get('state') ?? ''
  const secret = readConsoleCookie(cookie, 'tx', config)
  const transaction = secret === undefined ? undefined : openTransaction(secret, state, Date.now())
  // Of another browser, or too late. Who is signed in by now is back at once; without cookies nobody ever is.
  if (!transaction) {
    const begun = readState(state)
    if (!begun || begun.again) return sendFailure(exchange, begun?.to ?? '')
    return redirect(exchange, againAt(begun.to), [])
  }
  const { to, nonce, verifier } = transaction
  const code = answer.get('code')
  if (code === null || answer.get('iss') !== config.PUBLIC_URL) return sendFailure(exchange, to)
  const clientAddress = addressOf(gateway, exchange)
  rates.byAddress.admit(clientAddress, 1)
  const value = newSecret()
  const former = readConsoleCookie(cookie, 'session', config)
  const formerCookieHash = former === undefined ? Buffer.alloc(0) : hashConsoleCookie(former)
  const cookieHash = hashConsoleCookie(value)
  const request = { code, codeVerifier: verifier, nonce, cookieHash, formerCookieHash, clientAddress }
  try {
    const { userId, organizationId } = await consoleSessions.open(request)
    const next = to !== '/' ? to : (await authenticator.hasRole(userId, organizationId)) ? home : '/ui/account'
    redirect(exchange, next, [writeConsoleCookie(value, 'session', config)])
  } catch (thrown) {
    const error = toRosterError(thrown)
    gateway.log.info({ requestId: exchange.requestId, reason: error.reason }, 'a sign-in to the console failed')
    sendFailure(exchange, to, error)
  }
}

/** `GET /` of a browser: to the console, or to the own account. */
export function serveHome({ config }: Gateway, exchange: Exchange): void {
  redirect(exchange, `${consoleOrigin(config)}${signInPath}?to=%2F`, [])
}

/**
 * A path of the console, as a browser reads it; `/` for where `serveHome` leads. Any other text is the beginning of the
 * console: so no link leads elsewhere by it, or round in a circle.
 */
export function pathOf(text: string): string {
  if (text === '/') return text
  const url = text.length <= 1500 && text.startsWith('/') ? URL.parse(text, 'https://console.invalid') : null
  if (url?.host !== 'console.invalid') return home
  const { pathname, search, hash } = url
  const isOwn = pathname === home || pathname.startsWith(`${home}/`)
  return isOwn && pathname !== signInPath && pathname !== callbackPath ? `${pathname}${search}${hash}` : home
}

// The organization from which the person comes: as the address says it, or as its page does.
function hintOf(to: string, org: string): string {
  const { pathname, searchParams } = new URL(to, 'https://console.invalid')
  const [, ofPath] = /^\/ui\/console\/o\/([^/]+)/.exec(pathname) ?? []
  const id = org || searchParams.get('org') || ofPath || ''
  return /^[\w-]{1,200}$/.test(id) ? `urn:roster:org:hint:${id}` : ''
}

function againAt(to: string): string {
  return `${signInPath}?again=1&to=${encodeURIComponent(pathOf(to))}`
}

function redirect(exchange: Exchange, location: string, cookies: string[]): void {
  const headers = { ...protective, location, ...(cookies.length > 0 && { 'set-cookie': cookies }) }
  send(exchange, 303, headers, '')
}

function sendFailure(exchange: Exchange, to: string, error?: RosterError): void {
  const language = { ...chooseLanguage('', exchange.request.headers['accept-language']), brand: undefined }
  const link = html`<a href="${`${signInPath}?to=${encodeURIComponent(pathOf(to))}`}">${language.text.tryAgain}</a>`
  const isOurs = error !== undefined && error.reason !== 'INVALID_GRANT'
  const { status, headers, body } = toReply(notice(language, 'consoleFailed', {}, link), isOurs ? 503 : 400)
  send(exchange, status, headers, body)
}
