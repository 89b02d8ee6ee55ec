import type {
  AddPersonalAccessTokenRequest,
  AddPersonalAccessTokenResponse,
} from '#gen/roster/users/v1/credential_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { idOfDigits } from '#lib/id-of-digits'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { warningAtOnce } from '../../machine-credentials/expiry-warnings.ts'
import { checkExpiry, expiryOf, permitCredential, scopeToInherit } from '../../machine-credentials/new-credential.ts'
import { newToken, storeToken } from '../../tokens/token.ts'
import { living } from '../../events/credentials.ts'
import { machineCredentials, type User, type UserEvent } from '../../events/user.ts'

const mostTokens = 20

export const addPersonalAccessToken = {
  permit: permitCredential,
  check: checkExpiry,

  async handle(
    { store }: Context,
    { userId, expirationDate }: AddPersonalAccessTokenRequest,
    call: Call,
  ): Promise<AddPersonalAccessTokenResponse> {
    const [token, tokenId] = [newToken(), idOfDigits()]
    const scope = scopeToInherit(userId, call.caller)
    return store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide: (user: Aggregate<User>, now) => decide(user, { token, tokenId, scope }, expirationDate, now),
      respond: ({ after }) => ({ tokenId, token, details: details(after) }),
    })
  },
}

function decide(
  { id: userId, organizationId, state }: Aggregate<User>,
  { token, tokenId, scope }: { token: string; tokenId: string; scope: string | undefined },
  expirationDate: Date | undefined,
  now: Date,
): Decision<UserEvent> {
  if (living(machineCredentials(state).pat, now).length >= mostTokens)
    throw new RosterError('FAILED_PRECONDITION', 'TOKEN_LIMIT_REACHED', `The machine has ${mostTokens} tokens already.`)
  const row = { userId, organizationId, human: false, sessionId: '', credentialId: tokenId, scope }
  return {
    events: [
      { type: 'pat.added', payload: { tokenId, ...expiryOf(expirationDate) } },
      ...warningAtOnce('pat', tokenId, expirationDate, now),
    ],
    writes: [storeToken(token, { ...row, expiresAt: expirationDate ?? null })],
    answer: undefined,
  }
}
