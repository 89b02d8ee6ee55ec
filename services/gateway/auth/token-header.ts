import { RosterError } from '#lib/errors'

/**
 * Reads the token of an `Authorization` header. `isBound` says that the client presents it as bound to a key (DPoP).
 * UNAUTHENTICATED TOKEN_MISSING, TOKEN_INVALID.
 */
export function readToken(authorization: string | undefined): { token: string; isBound: boolean } {
  if (authorization === undefined || authorization === '')
    throw new RosterError('UNAUTHENTICATED', 'TOKEN_MISSING', 'A bearer token is needed.')
  const [, scheme, token] = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]{1,12000}=*) *$/i.exec(authorization) ?? []
  if (scheme === undefined || token === undefined) throw tokenInvalid()
  return { token, isBound: scheme.toLowerCase() === 'dpop' }
}

/** The one error of every false token: a client must not learn why it is false. */
export function tokenInvalid(cause?: unknown): RosterError {
  return new RosterError('UNAUTHENTICATED', 'TOKEN_INVALID', 'The token is not valid.', { cause })
}
