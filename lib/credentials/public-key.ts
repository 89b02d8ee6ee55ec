import { createPublicKey, generateKeyPair, type JsonWebKey, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { RosterError } from '../errors.ts'
import { createFairSemaphore, type Place } from '../fair-semaphore.ts'

/** A JWK (RFC 7517) with its public members alone. */
export interface PublicKey {
  kty: string
  n?: string
  e?: string
  crv?: string
  x?: string
  y?: string
}

/** A public key with the one algorithm, named as in JOSE, that it is used with. */
export interface ReadKey {
  algorithm: string
  publicKey: PublicKey
}

/** Why a text is not a usable public key. It repeats nothing of the text. */
export interface Unreadable {
  problem: string
}

const privateKey = {
  problem: 'is a private key, and only its owner may know it: make a new pair, and send its public half',
}
const malformed = { problem: 'must be a public key: SPKI in PEM, or a JWK' }
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/** Reads a public key: SPKI in PEM or a JWK, either of them also in base64. The result is a JWK in one spelling. */
export function readPublicKey(text: string): ReadKey | Unreadable {
  const trimmed = text.trim()
  if (/^[A-Za-z0-9+/=\s]+$/.test(trimmed)) return readText(Buffer.from(trimmed, 'base64').toString('utf8').trim())
  return readText(trimmed)
}

function readText(text: string): ReadKey | Unreadable {
  // Node would derive the public key from a private one. The sender would never learn that a private key was sent.
  if (text.includes('PRIVATE KEY')) return privateKey
  try {
    if (text.startsWith('{')) return readJwk(JSON.parse(text) as Record<string, unknown>)
    if (!/^-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----$/.test(text)) return malformed
    return judge(createPublicKey({ key: text, format: 'pem' }))
  } catch {
    return malformed
  }
}

function readJwk(jwk: Record<string, unknown>): ReadKey | Unreadable {
  if (privateMembers.some((member) => Object.hasOwn(jwk, member))) return privateKey
  const { kty, n, e, crv, x, y, use, key_ops: operations, alg } = jwk
  if (use !== undefined && use !== 'sig') return { problem: 'must be for signatures: its use is another one than sig' }
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify')))
    return { problem: 'must be for signatures: its key_ops do not contain verify' }
  const read = judge(createPublicKey({ key: { kty, n, e, crv, x, y } as JsonWebKey, format: 'jwk' }))
  if ('problem' in read || alg === undefined || namesOf(read.algorithm).includes(alg)) return read
  return { problem: `is used with ${read.algorithm}, and its alg is another one` }
}

// The y coordinates of the points whose order divides 8, and of those that are spelled as another number than theirs.
// Some verifiers take any signature by such a key (RFC 8032, section 5.1.7, demands no check).
const smallOrder = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

function isOfSmallOrder(x: string): boolean {
  const bytes = Buffer.from(x, 'base64url')
  // The highest bit is the sign of the other coordinate.
  bytes[31]! &= 0x7f
  return smallOrder.has(bytes.toString('hex'))
}

// RFC 9864 names EdDSA with this curve more closely.
function namesOf(algorithm: string): unknown[] {
  return algorithm === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [algorithm]
}

function judge(key: KeyObject): ReadKey | Unreadable {
  const { modulusLength = 0, publicExponent = 0n, namedCurve } = key.asymmetricKeyDetails ?? {}
  const publicKey = key.export({ format: 'jwk' }) as PublicKey
  switch (key.asymmetricKeyType) {
    case 'rsa':
      if (modulusLength < 2048 || modulusLength > 4096) return { problem: 'must have 2048 to 4096 bits if it is RSA' }
      // With exponent 1 anybody could sign. A small one helps an attacker of careless checks, and a large one only
      // takes time.
      if (publicExponent < 65_537n || publicExponent >= 1n << 32n || publicExponent % 2n === 0n)
        return { problem: 'must have an odd exponent from 65537 to 2^32 if it is RSA' }
      return { algorithm: 'RS256', publicKey }
    case 'ec':
      return namedCurve === 'prime256v1'
        ? { algorithm: 'ES256', publicKey }
        : { problem: 'must be on P-256 if it is EC' }
    case 'ed25519':
      return isOfSmallOrder(publicKey.x!)
        ? { problem: 'must not be a point of small order if it is Ed25519: anybody could sign' }
        : { algorithm: 'EdDSA', publicKey }
    default:
      return { problem: 'must be RSA, EC on P-256 or Ed25519' }
  }
}

const generate = promisify(generateKeyPair)

// A pair for RSA takes a tenth of a second, on one of the threads that passwords need.
const through = createFairSemaphore(
  { atOnce: 1, waiting: 50 },
  () =>
    new RosterError('RESOURCE_EXHAUSTED', 'KEYS_THROTTLED', 'Too many new keys are waiting to be made.', {
      retryAfter: 5,
    }),
)

/**
 * A new pair for an algorithm, named as in JOSE; the private half as PKCS #8 in PEM. One is made at a time, and lanes
 * are served round robin. `check` says, by its error, that no pair is wanted any more. RESOURCE_EXHAUSTED
 * KEYS_THROTTLED.
 */
export async function newKeyPair(
  algorithm: string,
  place: Place,
  check: () => Promise<void>,
): Promise<ReadKey & { privateKey: string }> {
  const { publicKey, privateKey } = await through(place, async () => {
    await check()
    return generateFor(algorithm)
  })
  return {
    algorithm,
    publicKey: publicKey.export({ format: 'jwk' }) as PublicKey,
    privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  }
}

function generateFor(algorithm: string) {
  if (algorithm === 'ES256') return generate('ec', { namedCurve: 'P-256' })
  return algorithm === 'EdDSA' ? generate('ed25519', undefined) : generate('rsa', { modulusLength: 2048 })
}
