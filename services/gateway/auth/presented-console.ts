import { invalid, RosterError } from '#lib/errors'
import { translationOf } from '../../../compat/zitadel/translation/compatible-methods.ts'
import type { Method } from '#lib/rpc/methods'
import type { Header } from '../listen/headers.ts'
import { consoleOrigin, type ConsoleSettings, hashConsoleCookie, isSecure, readConsoleCookie } from './console-place.ts'

/** A session of the console, as a call presents it. */
export interface PresentedConsole {
  /** The public name that the page knows it by. */
  name: string
  /** The hash of the cookie. */
  hash: Buffer
}

/** The header by which a page of the console says for which session it was drawn. */
export const consoleHeader = 'roster-console-session'

const json = /^application\/(connect\+)?json\b/i

/**
 * The session of the console that a call presents; undefined where it does not name one: then a cookie counts for nothing.
 * Only a page of the console can send it, by Connect POST with JSON. INVALID_ARGUMENT CONSOLE_SESSION_AMBIGUOUS;
 * PERMISSION_DENIED CONSOLE_SESSION_REFUSED, ORIGIN_REFUSED; UNAUTHENTICATED CONSOLE_SESSION_ENDED without a cookie.
 */
export function presentedConsole(
  { header, encoding, verb, method }: { header: Header; encoding: string; verb: string; method: Method },
  settings: ConsoleSettings,
): PresentedConsole | undefined {
  const name = header(consoleHeader)
  if (name === undefined) return undefined
  if (header('authorization') !== undefined) throw ambiguous()
  const isCall = encoding === 'connect' && verb === 'POST' && json.test(header('content-type') ?? '')
  // What is dangerous is declared of Roster's own methods.
  if (!isCall || translationOf(method)) throw refused('comes by Connect POST with JSON, to methods of Roster')
  return { name, hash: presentedCookie(header, settings) }
}

/**
 * The hash of the cookie of a request that a page of the console has sent. PERMISSION_DENIED ORIGIN_REFUSED,
 * CONSOLE_SESSION_REFUSED; UNAUTHENTICATED CONSOLE_SESSION_ENDED without a cookie.
 */
export function presentedCookie(header: Header, settings: ConsoleSettings): Buffer {
  const origin = consoleOrigin(settings)
  if (header('origin') !== origin)
    throw new RosterError(
      'PERMISSION_DENIED',
      'ORIGIN_REFUSED',
      `Only pages of ${origin} have a session of the console.`,
    )
  // Browsers say it to https, and to few others.
  const site = header('sec-fetch-site')
  if (site !== 'same-origin' && (site !== undefined || isSecure(settings)))
    throw refused('comes with Sec-Fetch-Site: same-origin, which browsers add')
  const value = readConsoleCookie(header('cookie'), 'session', settings)
  if (value === undefined) throw consoleSessionEnded()
  return hashConsoleCookie(value)
}

export function consoleSessionEnded(): RosterError {
  const message = 'There is no such session of the console, or it is over. Sign in again.'
  return new RosterError('UNAUTHENTICATED', 'CONSOLE_SESSION_ENDED', message)
}

/** Another sign-in has replaced the session in this browser. */
export function otherSession(present: { name: string; userId: string }): RosterError {
  const message = 'The session of the console in this browser is another one by now. Nothing was done.'
  const metadata = { session: present.name, userId: present.userId }
  return new RosterError('ABORTED', 'CONSOLE_SESSION_OTHER', message, { metadata })
}

function refused(how: string): RosterError {
  return new RosterError('PERMISSION_DENIED', 'CONSOLE_SESSION_REFUSED', `A session of the console ${how}.`)
}

function ambiguous(): RosterError {
  const description = `must not come with ${consoleHeader}: a call has one caller`
  return invalid([{ field: 'authorization', description }], 'CONSOLE_SESSION_AMBIGUOUS')
}
