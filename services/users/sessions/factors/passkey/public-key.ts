import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { cose, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'

const { COSEKEYS } = cose
/** Bytes of an RSA key of 4,096 bits, with room. */
const longest = 1024

/**
 * Whether a COSE key is one that its algorithm can verify by: a point of P-256, a key of Ed25519, or RSA of 2,048 to 4,096
 * bits with an ordinary exponent, by which nobody else can sign. A key that serves for nothing would count as a factor that
 * the person has.
 */
export function isSound(publicKey: Uint8Array<ArrayBuffer>): boolean {
  if (publicKey.length > longest) return false
  try {
    const { asymmetricKeyType, asymmetricKeyDetails = {} } = createPublicKey({ key: jwkOf(publicKey), format: 'jwk' })
    const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails
    return asymmetricKeyType !== 'rsa' || (modulusLength >= 2048 && modulusLength <= 4096 && publicExponent >= 65_537n)
  } catch {
    return false
  }
}

// RFC 9053. -1 is the modulus of an RSA key, or the curve of another one.
function jwkOf(publicKey: Uint8Array<ArrayBuffer>): JsonWebKey {
  const key = decodeCredentialPublicKey(publicKey) as unknown as Map<number, unknown>
  const text = (name: number) => Buffer.from(key.get(name) as Uint8Array).toString('base64url')
  const [kty, algorithm] = [key.get(COSEKEYS.kty), key.get(COSEKEYS.alg)]
  if (kty === 3 && algorithm === -257) return { kty: 'RSA', n: text(COSEKEYS.n), e: text(COSEKEYS.e) }
  const made = [kty, algorithm, key.get(COSEKEYS.crv)].join()
  if (made === '2,-7,1') return { kty: 'EC', crv: 'P-256', x: text(COSEKEYS.x), y: text(COSEKEYS.y) }
  if (made === '1,-8,6') return { kty: 'OKP', crv: 'Ed25519', x: text(COSEKEYS.x) }
  throw new Error(`no key that was asked for: ${made}`)
}
