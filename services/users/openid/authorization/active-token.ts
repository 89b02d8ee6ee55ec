import type { ServiceCall } from '#lib/rpc/call'
import { type FoundToken, findToken, hashToken } from '../../directory/tokens/token.ts'
import { isComplete } from '../../sessions/session-tokens.ts'
import { findPerson, type LoadedAuthorization } from './later-facts.ts'
import type { Allowed } from '../judge/judge.ts'
import type { Context } from '../../context.ts'

/** A token that opens something now. */
export interface ActiveToken {
  token: FoundToken
  /** Of an access token of a person. */
  person: (LoadedAuthorization & { allowed: Allowed }) | undefined
}

/**
 * The token of this text, if it opens anything: so introspection calls it active, and ExplainToken. Undefined of a refresh
 * token, too. UNAVAILABLE; errors of grants.
 */
export async function findActive(context: Context, text: string, call: ServiceCall): Promise<ActiveToken | undefined> {
  const token = await findToken(context, hashToken(text))
  if (!token) return undefined
  const { authorizationId } = token
  if (authorizationId === undefined)
    return (await isComplete(context, token, call)) ? { token, person: undefined } : undefined
  const person = await findPerson(context, 'token', authorizationId, call)
  return person && { token, person }
}
