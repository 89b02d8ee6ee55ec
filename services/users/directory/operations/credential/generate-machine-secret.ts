import type {
  GenerateMachineSecretRequest,
  GenerateMachineSecretResponse,
} from '#gen/roster/users/v1/credential_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import type { Context } from '../../../context.ts'
import type { User, UserEvent } from '../../events/user.ts'
import { removedSecrets } from '../../machine-credentials/machine-credentials.ts'
import { checkExpiry, permitCredential } from '../../machine-credentials/new-credential.ts'
import { newToken } from '../../tokens/token.ts'
import { addedSecret } from './add-machine-secret.ts'

export const generateMachineSecret = {
  permit: permitCredential,
  check: checkExpiry,

  async handle(
    { store }: Context,
    { userId, expirationDate }: GenerateMachineSecretRequest,
    call: Call,
  ): Promise<GenerateMachineSecretResponse> {
    const [clientSecret, secretId] = [newToken(), uuid()]
    return store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide({ state }: Aggregate<User>, now): Decision<UserEvent> {
        const added = addedSecret(userId, { clientSecret, secretId, expirationDate }, now)
        return { ...added, events: [...removedSecrets(state, now), ...added.events] }
      },
      respond: ({ after }) => ({ secretId, clientId: userId, clientSecret, details: details(after) }),
    })
  },
}
