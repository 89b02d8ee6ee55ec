import { type CryptoKey, decodeJwt, decodeProtectedHeader, errors, generateKeyPair, importJWK, jwtVerify } from 'jose'
import type { UniqueKey } from '#lib/eventstore/command'
import type { FailureReason } from '../events/authentication.ts'
import type { Config } from '../../config.ts'
import { issuerOf, tokenEndpointOf } from '../../directory/issuer.ts'
import { singleUse } from '../../directory/secrets/single-use.ts'
import { living, type MachineKey } from '../../directory/events/credentials.ts'

/** An assertion as it describes itself: nothing in it is proved yet. */
export interface ReadAssertion {
  text: string
  /** The client id. */
  issuer: string
  keyId: string | undefined
  algorithm: string
  /** The algorithm as the key names it: a signature of Ed25519 has two names (RFC 9864). */
  keyAlgorithm: string
}

/** A verified assertion: the key that signed it, and the unique key that makes it usable once, if it has a `jti`. */
export interface Assertion {
  credential: MachineKey
  once?: UniqueKey
}

const clientId = /^[^\0]{1,500}$/u
/** Algorithms that a client's key may sign with. */
export const assertionAlgorithms = ['RS256', 'ES256', 'EdDSA', 'Ed25519']
/** Seconds. */
const skew = 30
const longest = 3600
/** After its beginning, for an assertion that can be used again and again. */
const longestWithoutId = 300

/** Reads who an assertion claims to be from; undefined where it cannot be read. */
export function readAssertion(text: string): ReadAssertion | undefined {
  try {
    const { kid, alg = '' } = decodeProtectedHeader(text)
    const { iss, sub } = decodeJwt(text)
    if (!assertionAlgorithms.includes(alg) || typeof iss !== 'string' || iss !== sub || !clientId.test(iss))
      return undefined
    return { text, issuer: iss, keyId: kid, algorithm: alg, keyAlgorithm: alg === 'Ed25519' ? 'EdDSA' : alg }
  } catch {
    return undefined
  }
}

/** The client that an assertion names, even if all else in it is wrong; empty where it names none. */
export function issuerNamedBy(text: string): string {
  try {
    const { iss } = decodeJwt(text)
    return typeof iss === 'string' && clientId.test(iss) ? iss : ''
  } catch {
    return ''
  }
}

/** Who may have signed an assertion. */
export interface AssertionSigner {
  id: string
  /** Those that expired may be among them. */
  keys: MachineKey[]
}

/**
 * Whether a client signed the assertion, for this service and for now (RFC 7523 section 3). Without a client or its
 * key, a random key is tried, so that the answer takes as long.
 */
export async function verifyAssertion(
  config: Config,
  { text, keyId, algorithm, keyAlgorithm }: ReadAssertion,
  signer: AssertionSigner | undefined,
  now: Date,
): Promise<Assertion | FailureReason> {
  const credential = chooseKey(signer, keyAlgorithm, keyId, now)
  const audiences = [issuerOf(config), tokenEndpointOf(config)]
  const key = await (credential ? imported(credential) : unknownKey(keyAlgorithm))
  try {
    const { payload } = await jwtVerify(text, key, {
      algorithms: [algorithm],
      audience: audiences,
      requiredClaims: ['exp'],
      clockTolerance: skew,
      currentDate: now,
    })
    if (!signer || !credential) return 'key'
    const { exp = 0, iat = 0, jti, aud } = payload
    // Another audience could replay the assertion here.
    if (![aud].flat().every((one) => audiences.includes(one ?? ''))) return 'claims'
    const seconds = now.getTime() / 1000
    if (exp > seconds + longest + skew || iat > seconds + skew) return 'claims'
    if (jti === undefined) {
      // RFC 7523 does not ask for a jti. Two assertions of one second are then the same text, so neither is used up.
      if (payload.iat === undefined) return 'claims'
      return seconds > iat + longestWithoutId + skew ? 'expired' : { credential }
    }
    if (typeof jti !== 'string' || jti === '') return 'claims'
    // The same jti with another end is another assertion: only its signer can make one.
    return { credential, once: singleUse('assertion', JSON.stringify([signer.id, jti]), exp) }
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error
    if (!credential) return 'key'
    if (error instanceof errors.JWTExpired) return 'expired'
    return error instanceof errors.JWTClaimValidationFailed ? 'claims' : 'signature'
  }
}

// Without a key id, chooses the only key that fits.
function chooseKey(signer: AssertionSigner | undefined, algorithm: string, keyId: string | undefined, now: Date) {
  const keys = living(signer?.keys ?? [], now).filter((key) => key.algorithm === algorithm)
  if (keyId !== undefined) return keys.find(({ id }) => id === keyId)
  return keys.length === 1 ? keys[0] : undefined
}

// A key's id never means another key, so imported keys may be kept.
const known = new Map<string, Promise<CryptoKey>>()
const mostKnown = 10_000

function imported({ id, algorithm, publicKey }: MachineKey): Promise<CryptoKey> {
  let key = known.get(id)
  if (!key) {
    if (known.size >= mostKnown) known.clear()
    known.set(id, (key = importJWK({ ...publicKey }, algorithm) as Promise<CryptoKey>))
  }
  return key
}

const unknownKeys = new Map<string, Promise<CryptoKey>>()

function unknownKey(algorithm: string): Promise<CryptoKey> {
  let key = unknownKeys.get(algorithm)
  if (!key) unknownKeys.set(algorithm, (key = generateKeyPair(algorithm).then(({ publicKey }) => publicKey)))
  return key
}
