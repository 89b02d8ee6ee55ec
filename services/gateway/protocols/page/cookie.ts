/** What a cookie tells again: the browser, or that it is trusted. */
export type CookieOf = 'browser' | 'trust'

/** The value of a cookie. Empty without one, and with two: another site of the domain may have set one. */
export function readCookie(header: string | undefined, publicUrl: string, of: CookieOf = 'browser'): string {
  const name = cookieName(publicUrl, of)
  const pairs = (header ?? '').split(';').map((pair) => pair.trim())
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
  return values.length === 1 && forms[of].test(values[0]!) ? values[0]! : ''
}

/** The header that gives the browser its cookie, for so many seconds; 0: until it is closed. */
export function writeCookie(value: string, lifetime: number, publicUrl: string, of: CookieOf = 'browser'): string {
  if (!forms[of].test(value)) throw new Error('the new value of a cookie is none')
  const secure = isSecure(publicUrl) ? '; Secure' : ''
  const maxAge = lifetime > 0 ? `; Max-Age=${lifetime}` : ''
  return `${cookieName(publicUrl, of)}=${value}; Path=/${maxAge}; HttpOnly; SameSite=Lax${secure}`
}

const forms: Record<CookieOf, RegExp> = { browser: /^[\w-]{1,200}$/, trust: /^[\w.-]{1,200}$/ }

// The prefix binds a cookie to this very host (RFC 6265bis), and needs https.
function cookieName(publicUrl: string, of: CookieOf): string {
  return isSecure(publicUrl) ? `__Host-roster-${of}` : `roster-${of}`
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:')
}
