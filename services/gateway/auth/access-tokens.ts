import { createLocalJWKSet, errors, jwtVerify } from 'jose'
import type { GetSigningKeysResponse } from '#gen/roster/users/v1/internal_service'
import { RosterError } from '#lib/errors'

/** Checks access tokens that are JWTs, so that no service is asked about a forged one. */
export interface AccessTokens {
  /**
   * Passes a token that is no JWT, and an access token (RFC 9068) that we signed and that has not expired. The service
   * that stored it checks its audience. UNAUTHENTICATED TOKEN_INVALID for every other JWT; errors of the question for
   * the keys.
   */
  check(token: string): Promise<void>
  /** Gives the issuer of access tokens, which is the public address of this gateway. */
  issuer(): Promise<string>
}

const algorithms = ['ES256', 'EdDSA', 'RS256']
const maxAge = 300_000
/** Milliseconds between two questions for an unknown key. */
const patience = 10_000

/** Checks with the keys that `ask` gives. It asks again when the keys are five minutes old, or one is missing. */
export function createAccessTokens(ask: () => Promise<GetSigningKeysResponse>): AccessTokens {
  let known: Promise<Known> | undefined
  let askedAt = 0

  function keysOf(age: number): Promise<Known> {
    if (known && askedAt > Date.now() - age) return known
    askedAt = Date.now()
    const asked = ask().then(({ issuer, keys }) => ({ issuer, keys: createLocalJWKSet({ keys: keys.map(toJwk) }) }))
    // After a failure, the next token asks again at once.
    asked.catch(() => {
      if (known === asked) known = undefined
    })
    return (known = asked)
  }

  async function verify(token: string, { issuer, keys }: Known) {
    await jwtVerify(token, keys, {
      algorithms,
      typ: 'at+jwt',
      issuer,
      clockTolerance: 30,
      requiredClaims: ['exp', 'iat', 'sub', 'jti', 'client_id'],
    })
  }

  async function verifyWithNewKeys(token: string, error: unknown) {
    const keys = error instanceof errors.JWKSNoMatchingKey ? await keysOf(patience) : undefined
    if (!keys) throw error
    await verify(token, keys)
  }

  return {
    async check(token) {
      if (!/^[\w-]+\.[\w-]*\.[\w-]*$/.test(token)) return
      const keys = await keysOf(maxAge)
      try {
        await verify(token, keys).catch((error: unknown) => verifyWithNewKeys(token, error))
      } catch (cause) {
        if (!(cause instanceof errors.JOSEError)) throw cause
        throw tokenInvalid(cause)
      }
    },
    issuer: async () => (await keysOf(maxAge)).issuer,
  }
}

interface Known {
  issuer: string
  keys: ReturnType<typeof createLocalJWKSet>
}

// Leaves out the members that are not set: a JWK must not have them as undefined.
function toJwk(key: GetSigningKeysResponse['keys'][number]) {
  return JSON.parse(JSON.stringify(key)) as { kty: string }
}

/**
 * Reads the token of an `Authorization` header. `isBound` says that the client presents it as bound to a key (DPoP).
 * UNAUTHENTICATED TOKEN_MISSING, also for another scheme (RFC 6750 section 3.1), TOKEN_INVALID.
 */
export function readToken(authorization: string | undefined): { token: string; isBound: boolean } {
  if (!/^(bearer|dpop)( |$)/i.test(authorization ?? ''))
    throw new RosterError('UNAUTHENTICATED', 'TOKEN_MISSING', 'A bearer token is needed.')
  const [, scheme, token] = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]{1,12000}=*) *$/i.exec(authorization!) ?? []
  if (scheme === undefined || token === undefined) throw tokenInvalid()
  return { token, isBound: scheme.toLowerCase() === 'dpop' }
}

/** The one error of every false token: a client must not learn why it is false. */
export function tokenInvalid(cause?: unknown): RosterError {
  return new RosterError('UNAUTHENTICATED', 'TOKEN_INVALID', 'The token is not valid.', { cause })
}
