import { createHash } from 'node:crypto'
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, errors, jwtVerify } from 'jose'

/** A DPoP proof (RFC 9449) whose signature and claims hold. */
export interface Proof {
  /** SHA-256 thumbprint (RFC 7638) of the key that signed it. */
  thumbprint: string
  /** Two different proofs never share this id. */
  id: string
  /** Unix time in seconds after which no verifier accepts the proof. */
  end: number
}

/** The request that a proof must belong to. */
export interface Proven {
  verb: string
  /** Without the query. */
  url: string
  /** The token that comes with the request; undefined where the request asks for a token. */
  token?: string
  /** Default: the time of this process. */
  now?: Date
}

/** The signature algorithms that a proof may use. */
export const proofAlgorithms = ['ES256', 'EdDSA', 'Ed25519', 'RS256']

/** Seconds. */
const longest = 60
const skew = 30

/**
 * Returns the proof if it fits this request and the present time, else undefined. The caller must see to it that a
 * proof is used only once.
 */
export async function verifyProof(text: string, { verb, url, token, now }: Proven): Promise<Proof | undefined> {
  try {
    const { payload } = await jwtVerify(text, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: proofAlgorithms,
      maxTokenAge: longest,
      clockTolerance: skew,
      ...(now && { currentDate: now }),
      requiredClaims: ['iat', 'jti', 'htm', 'htu'],
    })
    const { iat = 0, jti, htm, htu, ath } = payload
    const isOfRequest = htm === verb && typeof htu === 'string' && isSame(htu, url)
    const isOfToken = token === undefined || ath === createHash('sha256').update(token).digest('base64url')
    if (!isOfRequest || !isOfToken || typeof jti !== 'string' || jti === '') return undefined
    const thumbprint = await calculateJwkThumbprint(decodeProtectedHeader(text).jwk!)
    return { thumbprint, id: JSON.stringify([thumbprint, jti]), end: Math.ceil(iat) + longest + skew }
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException)
      return undefined
    throw error
  }
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [URL.parse(given), URL.parse(wanted)]
  return one !== null && other !== null && one.origin === other.origin && one.pathname === other.pathname
}
