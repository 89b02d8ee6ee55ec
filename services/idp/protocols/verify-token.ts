import * as jose from 'jose'
import { wordsOfFailure } from '#lib/outbound/words-of-failure'
import { clockTolerance } from './check-clock.ts'
import { signatureAlgorithms } from './check-keys.ts'
import { plain } from './checks.ts'
import type { KeysCache } from './keys-cache.ts'
import { type Upstream, UpstreamError } from './protocol.ts'

/** What a token has to be. */
export interface Expected {
  issuer: string
  keysEndpoint: string
  audience: string
  /** Seconds since its issue, at most. */
  maxTokenAge: number
  requiredClaims: string[]
}

/** The claims of a token that a provider has signed by one of its public keys. Throws UpstreamError. */
export async function verifyToken(
  { fetch, clockAhead }: Pick<Upstream, 'fetch' | 'clockAhead'>,
  token: string,
  { issuer, keysEndpoint, ...expected }: Expected,
  known: KeysCache,
): Promise<jose.JWTVerifyResult> {
  let isAsked = false
  const keys = jose.createRemoteJWKSet(new URL(keysEndpoint), {
    [jose.customFetch]: (url: string) => {
      isAsked = true
      return fetch(url, { headers: { accept: 'application/json' } })
    },
    [jose.jwksCache]: known.of({ issuer, jwks_uri: keysEndpoint }),
    cacheMaxAge: 300_000,
    cooldownDuration: 60_000,
  })
  try {
    return await jose.jwtVerify(token, keys, {
      // By a public key: the header of a token decides nothing.
      algorithms: signatureAlgorithms,
      issuer,
      ...expected,
      currentDate: new Date(Date.now() + clockAhead),
      clockTolerance,
    })
  } catch (error) {
    // Its key may be a new one, for which the provider is not asked now: a forged token would keep out what it signs.
    if (error instanceof jose.errors.JWKSNoMatchingKey && !isAsked)
      throw new UpstreamError(
        'not-available',
        'The keys of the provider were read a moment ago, and lack that of the token.',
      )
    if (isOfToken(error)) throw new UpstreamError('not-believed', plain(error.message), error)
    throw new UpstreamError(
      'not-available',
      `The keys of the provider cannot be read: ${wordsOfFailure(error)}.`,
      error,
    )
  }
}

// The others are of the keys: what jose names so came of a token.
function isOfToken(error: unknown): error is jose.errors.JOSEError {
  return error instanceof jose.errors.JOSEError && /^ERR_(JWT|JWS|JOSE_(ALG|NOT)|JWKS_(NO|MULTIPLE))/.test(error.code)
}
