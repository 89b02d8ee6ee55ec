/**
 * The events of machines that sign in, and of applications that fail to. The log is an aggregate of its own, by the
 * user's or the application's id, so that the user's sequence stays.
 */
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

/** The log is only read: no decision depends on it. */
export function evolveAuthentication(): object {
  return {}
}

/**
 * Why a machine or an application was refused. `inactive`: it may not sign in. `method`: it is registered with another
 * one. `secret`: the secret is none of its own. `key`: there is
 * no such key. `signature`: the key did not sign it. `expired`: the assertion is over. `claims`: the assertion says
 * something else than it must. `replayed`: it was used before. `proof`: the DPoP proof is missing, is for another
 * request, or was used before.
 */
export type FailureReason =
  | 'inactive'
  | 'method'
  | 'secret'
  | 'key'
  | 'signature'
  | 'expired'
  | 'claims'
  | 'replayed'
  | 'proof'
