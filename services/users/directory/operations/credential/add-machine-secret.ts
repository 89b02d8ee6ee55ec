import type { AddMachineSecretRequest, AddMachineSecretResponse } from '#gen/roster/users/v1/credential_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import type { Context } from '../../../context.ts'
import { storeSecret } from '../../machine-credentials/machine-credentials.ts'
import { warningAtOnce } from '../../machine-credentials/expiry-warnings.ts'
import { checkExpiry, expiryOf, permitCredential } from '../../machine-credentials/new-credential.ts'
import { newToken } from '../../tokens/token.ts'
import { living } from '../../events/credentials.ts'
import { machineCredentials, type User, type UserEvent } from '../../events/user.ts'

const mostSecrets = 2

export const addMachineSecret = {
  permit: permitCredential,
  check: checkExpiry,

  async handle(
    { store }: Context,
    { userId, expirationDate }: AddMachineSecretRequest,
    call: Call,
  ): Promise<AddMachineSecretResponse> {
    const [clientSecret, secretId] = [newToken(), uuid()]
    return store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide: (user: Aggregate<User>, now) => decide(user, clientSecret, secretId, expirationDate, now),
      respond: ({ after }) => ({ secretId, clientId: userId, clientSecret, details: details(after) }),
    })
  },
}

function decide(
  user: Aggregate<User>,
  clientSecret: string,
  secretId: string,
  expirationDate: Date | undefined,
  now: Date,
): Decision<UserEvent> {
  if (living(machineCredentials(user.state).secret, now).length >= mostSecrets)
    throw new RosterError('FAILED_PRECONDITION', 'SECRET_LIMIT_REACHED', 'The machine has two secrets already.')
  return addedSecret(user.id, { clientSecret, secretId, expirationDate }, now)
}

/** The decision that adds a secret. */
export function addedSecret(
  userId: string,
  {
    clientSecret,
    secretId,
    expirationDate,
  }: { clientSecret: string; secretId: string; expirationDate?: Date | undefined },
  now: Date,
): Decision<UserEvent> {
  return {
    events: [
      { type: 'secret.added', payload: { secretId, ...expiryOf(expirationDate) } },
      ...warningAtOnce('secret', secretId, expirationDate, now),
    ],
    writes: [storeSecret(clientSecret, { id: secretId, userId, expiresAt: expirationDate ?? null })],
    answer: undefined,
  }
}
