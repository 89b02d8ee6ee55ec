import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

// As all authenticator apps know it, whatever the URI says: RFC 6238 with SHA-1, six digits, half a minute.
const [digits, seconds] = [6, 30]
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new secret: as long as the output of its hash (RFC 4226, section 4). */
export function newSecret(): Buffer {
  return randomBytes(20)
}

/** A text in base32 (RFC 4648), without padding. */
export function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[parseInt(five.padEnd(5, '0'), 2)]).join('')
}

/** The code of a time step (RFC 4226, section 5.3). */
export function codeAt(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const number = mac.readUInt32BE(mac.at(-1)! & 0xf) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/**
 * The time step that a typed code is of: the present one, or one beside it, for clocks that are not exact and for people who
 * type slowly. Undefined: it is of none. Blanks do not count.
 */
export function stepOf(secret: Buffer, typed: string, now: Date): number | undefined {
  const present = Math.floor(now.getTime() / 1000 / seconds)
  const given = Buffer.from(typed.replace(/\s/g, ''))
  // All three are compared, so that the time tells nothing.
  const right = [present + 1, present, present - 1].filter((step) => {
    const code = Buffer.from(codeAt(secret, step))
    return given.length === code.length && timingSafeEqual(given, code)
  })
  return right[0]
}

/** What an authenticator app reads from a QR code. */
export function uriOf(secret: Buffer, { issuer, account }: { issuer: string; account: string }): string {
  const parameters = { secret: toBase32(secret), issuer, algorithm: 'SHA1', digits, period: seconds }
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  // A colon ends the issuer, however it is written.
  const label = issuer.includes(':') ? [account] : [issuer, account]
  return `otpauth://totp/${label.map(encodeURIComponent).join(':')}?${query.join('&')}`
}
