import { createHash } from 'node:crypto'
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, errors, jwtVerify } from 'jose'

/** A DPoP proof (RFC 9449) whose signature and claims hold. */
export interface Proof {
  /** SHA-256 thumbprint (RFC 7638) of the key that signed it. */
  thumbprint: string
  /** Makes it this proof and no other. */
  id: string
  /** Unix time in seconds when nobody takes it any more. */
  end: number
}

/** The request that a proof must be of. */
export interface Proven {
  verb: string
  /** Without query. */
  url: string
  /** The token that it comes with; none where one is asked for. */
  token?: string
}

/** What a proof may be signed with. */
export const proofAlgorithms = ['ES256', 'EdDSA', 'Ed25519', 'RS256']

/** Seconds. */
const longest = 60
const skew = 30

/** The proof, where it is one for this request and for now; undefined where it is none. That it is used once is for the caller to see. */
export async function verifyProof(text: string, { verb, url, token }: Proven): Promise<Proof | undefined> {
  try {
    const { payload } = await jwtVerify(text, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: proofAlgorithms,
      maxTokenAge: longest,
      clockTolerance: skew,
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
