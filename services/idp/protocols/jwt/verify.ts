import type { JWTPayload } from 'jose'
import { KeysCache } from '../keys-cache.ts'
import { type Upstream, UpstreamError } from '../protocol.ts'
import { verifyToken } from '../verify-token.ts'

/** Seconds from the issue of a token to its end, at most. */
export const longestLife = 300

const known = new KeysCache()

/** The claims of a token of this provider, for this provider of Roster alone. */
export async function verify(upstream: Upstream<'jwt'>, token: string): Promise<JWTPayload> {
  const { issuer, keysEndpoint, audience } = upstream.configuration
  const expected = { issuer, keysEndpoint, audience: audience!, maxTokenAge: longestLife }
  const { payload } = await verifyToken(upstream, token, { ...expected, requiredClaims: ['exp', 'sub'] }, known)
  // Another receiver could hand it on.
  if (Array.isArray(payload.aud) && payload.aud.length > 1)
    throw new UpstreamError('not-believed', 'The token is for others, too.')
  if (payload.exp! - payload.iat! > longestLife)
    throw new UpstreamError('not-believed', `The token lives longer than ${longestLife} seconds.`)
  if (typeof payload.sub !== 'string') throw new UpstreamError('not-believed', 'The token names nobody.')
  return payload
}
