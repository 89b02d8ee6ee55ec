import { hash } from 'node:crypto'

export interface ConsoleSettings {
  PUBLIC_URL: string
  CONSOLE_URL: string
}

/** The origin of the console. */
export function consoleOrigin({ PUBLIC_URL, CONSOLE_URL }: ConsoleSettings): string {
  return CONSOLE_URL || PUBLIC_URL
}

/** `session`: of a session of the console. `tx`: of sign-ins that have begun. */
export type ConsoleCookie = 'session' | 'tx'

// Each 256 random bits.
const form = /^[\w-]{43}$/

/** The value of a cookie of the console; undefined without one, and with two. */
export function readConsoleCookie(
  header: string | undefined,
  of: ConsoleCookie,
  settings: ConsoleSettings,
): string | undefined {
  const start = `${nameOf(of, settings)}=`
  const pairs = (header ?? '').split(';').map((pair) => pair.trim())
  const [value, ...others] = pairs.filter((pair) => pair.startsWith(start)).map((pair) => pair.slice(start.length))
  return value !== undefined && others.length === 0 && form.test(value) ? value : undefined
}

/**
 * The header that sets a cookie of the console, or takes it back where the value is empty. That of a session comes with no
 * request that another site begins; that of a sign-in with the link by which the sign-in comes back.
 */
export function writeConsoleCookie(value: string, of: ConsoleCookie, settings: ConsoleSettings): string {
  const lifetime = value === '' ? '; Max-Age=0' : of === 'tx' ? `; Max-Age=${signInWithin}` : ''
  const secure = isSecure(settings) ? '; Secure' : ''
  const site = of === 'tx' ? 'Lax' : 'Strict'
  return `${nameOf(of, settings)}=${value}; Path=/${lifetime}; HttpOnly; SameSite=${site}${secure}`
}

/** Seconds for a sign-in to the console. */
export const signInWithin = 600

// Without https there is no prefix that binds a cookie to its host. Cookies take no notice of ports, so the name does.
function nameOf(of: ConsoleCookie, settings: ConsoleSettings): string {
  const name = of === 'tx' ? 'roster-console-tx' : 'roster-console'
  return isSecure(settings) ? `__Host-${name}` : `${name}-${new URL(consoleOrigin(settings)).port || 80}`
}

/** Whether browsers reach the console by https. */
export function isSecure(settings: ConsoleSettings): boolean {
  return consoleOrigin(settings).startsWith('https:')
}

/** The hash of the cookie of a session. No token has a blank, so none has this hash. */
export function hashConsoleCookie(value: string): Buffer {
  return hash('sha256', `console ${value}`, 'buffer')
}
