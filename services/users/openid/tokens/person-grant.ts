import type { Allowed } from '../judge/judge.ts'
import type { Authorization } from '../events/authorization.ts'

/** What the tokens of a person are made from. */
export interface PersonGrant {
  allowed: Allowed
  authorizationId: string
  authorization: Pick<Authorization, 'sessionId' | 'claims'>
  /** Of the authorization; a refresh may ask for fewer. */
  scopes: readonly string[]
  /** Of the key that the tokens are bound to. */
  dpopThumbprint: string | undefined
  /** Of the request; empty where it had none. */
  nonce: string
}
