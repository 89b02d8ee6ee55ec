/** What can happen when a machine signs in: the log has its own aggregate, by the user's id, so that the user's sequence stays. */
export type AuthenticationEvent =
  | { type: 'token.issued'; payload: IssuedToken }
  | { type: 'token.revoked'; payload: { tokenId: string } }
  | { type: 'failed'; payload: { method: string; reason: FailureReason } }

export interface IssuedToken {
  tokenId: string
  grantType: string
  /** The key or secret of the machine. */
  credentialId: string
  scope: string
  /** RFC 3339. */
  expiresAt: string
}

/** The log is for reading: nothing is decided on it. */
export function evolveAuthentication(): object {
  return {}
}

/**
 * Why a machine was refused: it may not sign in; the secret is none of its own; there is no such key; the signature is not of the
 * key; the assertion is over, says something else than it must, or was used before; the DPoP proof is missing, is none for the request,
 * or was used before.
 */
export type FailureReason = 'inactive' | 'secret' | 'key' | 'signature' | 'expired' | 'claims' | 'replayed' | 'proof'
