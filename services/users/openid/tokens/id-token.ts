import { compactVerify, errors, importJWK, type JWTPayload } from 'jose'
import type { Context } from '../../context.ts'
import { type idTokenAlgorithms, idTokenLifetime } from './keys/id-token-keys.ts'
import { issuerOf } from '../../directory/issuer.ts'

/** What an ID token says of a sign-in, beside what is the same in all. */
export interface IdTokenClaims extends JWTPayload {
  sub: string
  /** The client id. */
  aud: string
  /** The session. */
  sid: string
}

/** The user that an ID token that came back is about. */
export type Hint = Pick<IdTokenClaims, 'sub' | 'aud' | 'sid'>

// Receivers of access tokens and of logout tokens want another type.
const type = 'JWT'

/** Signs an ID token, which lives an hour from then: Unix time in seconds. */
export function signIdToken(
  { config, idTokenKeys }: Pick<Context, 'config' | 'idTokenKeys'>,
  algorithm: (typeof idTokenAlgorithms)[number],
  claims: IdTokenClaims,
  iat: number,
): Promise<string> {
  return idTokenKeys.sign(algorithm, type, { iss: issuerOf(config), iat, exp: iat + idTokenLifetime, ...claims })
}

/**
 * Reads an ID token of this issuer that comes back as a hint, also one that has expired. With a client id, one of this client
 * alone. Undefined for all else.
 */
export async function readHint(
  { config, idTokenKeys }: Pick<Context, 'config' | 'idTokenKeys'>,
  text: string,
  clientId?: string,
): Promise<Hint | undefined> {
  const payload = await readOwn(idTokenKeys, text)
  const { iss, aud, sub, sid } = payload ?? {}
  if (iss !== issuerOf(config) || typeof aud !== 'string' || typeof sub !== 'string' || typeof sid !== 'string')
    return undefined
  return clientId === undefined || aud === clientId ? { sub, aud, sid } : undefined
}

async function readOwn({ find }: Context['idTokenKeys'], text: string): Promise<Partial<IdTokenClaims> | undefined> {
  try {
    const { payload } = await compactVerify(text, async ({ kid, alg, typ }) => {
      const key = kid === undefined || typ !== type ? undefined : await find(kid)
      // The key says the algorithm, never the token.
      if (!key || key.alg !== alg) throw new errors.JWKSNoMatchingKey()
      return importJWK(key, key.alg)
    })
    return JSON.parse(new TextDecoder().decode(payload)) as Partial<IdTokenClaims>
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
