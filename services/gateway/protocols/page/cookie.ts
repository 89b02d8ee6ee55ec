/** The value of the browser's cookie. Empty without one, and with two: another site of the domain may have set one. */
export function readCookie(header: string | undefined, publicUrl: string): string {
  const name = cookieName(publicUrl)
  const pairs = (header ?? '').split(';').map((pair) => pair.trim())
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
  return values.length === 1 && /^[\w-]{1,200}$/.test(values[0]!) ? values[0]! : ''
}

/** The header that gives the browser its cookie, for so many seconds; 0: until it is closed. */
export function writeCookie(value: string, lifetime: number, publicUrl: string): string {
  if (!/^[\w-]+$/.test(value)) throw new Error('the new value of a cookie is none')
  const secure = isSecure(publicUrl) ? '; Secure' : ''
  const maxAge = lifetime > 0 ? `; Max-Age=${lifetime}` : ''
  return `${cookieName(publicUrl)}=${value}; Path=/${maxAge}; HttpOnly; SameSite=Lax${secure}`
}

// The prefix binds a cookie to this very host (RFC 6265bis), and needs https.
function cookieName(publicUrl: string): string {
  return isSecure(publicUrl) ? '__Host-roster-browser' : 'roster-browser'
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:')
}
