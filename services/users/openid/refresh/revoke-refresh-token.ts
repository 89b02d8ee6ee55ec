import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { ApplicationClient } from '../clients/application-client.ts'
import { readRefreshToken } from '../tokens/refresh-token.ts'
import { type Authorization, type AuthorizationEvent, authorizationType, endOf } from '../events/authorization.ts'

/**
 * Ends the authorization that a refresh token belongs to, whichever of its refresh tokens it is. Another text, and that
 * of another application, changes nothing. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function revokeRefreshToken(
  { store, keys }: Pick<Context, 'store' | 'keys'>,
  { application }: Pick<ApplicationClient, 'application'>,
  text: string,
  { requestId, deadline }: Call,
): Promise<void> {
  const presented = readRefreshToken(keys, text)
  const found = presented && (await store.load<Authorization>(authorizationType, presented.authorizationId))
  if (found?.state.applicationId !== application.id) return
  await store.execute({
    aggregate: { type: authorizationType, id: found.id },
    call: { caller: { userId: found.state.userId }, requestId, deadline },
    decide: ({ state }: Aggregate<Authorization>): Decision<AuthorizationEvent> => ({
      events: state && !state.ended ? [endOf(state, 'revoked')] : [],
      answer: undefined,
    }),
  })
}
