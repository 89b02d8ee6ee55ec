/** A secret of the application's own, such as the key of its cookie. It is made here, and sent nowhere. */
export function makeRandom(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
