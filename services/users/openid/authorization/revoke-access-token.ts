import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { ApplicationClient } from '../clients/application-client.ts'
import { useUp } from '../../directory/secrets/single-use.ts'
import { findToken, hashToken } from '../../directory/tokens/token.ts'
import { type Authorization, type AuthorizationEvent, authorizationType } from '../events/authorization.ts'

/** Ends an access token that a person let this application have. Any other token changes nothing, and is no error. */
export async function revokeAccessToken(
  context: Context,
  client: ApplicationClient,
  text: string,
  { requestId, deadline, once }: Call,
): Promise<object> {
  const { sql, store } = context
  const hash = hashToken(text)
  const token = await findToken(context, hash)
  const id = token?.authorizationId ?? ''
  const authorization = id === '' ? undefined : await store.load<Authorization>(authorizationType, id)
  if (!token?.access || authorization?.state.applicationId !== client.application.id) {
    if (client.once && !(await useUp(sql, client.once))) return client.fail('replayed')
    return {}
  }
  const { userId, access } = token
  const payload = { userId, tokenId: access.tokenId }
  try {
    return await store.execute<Authorization, AuthorizationEvent, void, object>({
      aggregate: { type: authorizationType, id },
      call: { caller: { userId: '' }, requestId, deadline, ...(once && { once }) },
      decide: () => ({
        claims: client.once ? [client.once] : [],
        events: [{ type: 'token.revoked', payload }],
        writes: [(sql) => sql`delete from tokens where hash = ${hash}`],
        answer: undefined,
      }),
      respond: () => ({}),
    })
  } catch (error) {
    if (client.once && error === client.once.taken) return client.fail('replayed')
    throw error
  }
}
