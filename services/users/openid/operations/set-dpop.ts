import type { SetDPoPRequest, SetDPoPResponse } from '#gen/roster/users/v1/oauth_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { permitCredential } from '../../directory/machine-credentials/new-credential.ts'
import { machineCredentials, type User, type UserEvent } from '../../directory/events/user.ts'

export const setDPoP = { permit: permitCredential, handle }

async function handle({ store }: Context, { userId, required }: SetDPoPRequest, call: Call): Promise<SetDPoPResponse> {
  return store.execute({
    aggregate: { type: 'user', id: userId },
    call,
    decide({ state }: Aggregate<User>): Decision<UserEvent> {
      machineCredentials(state)
      const same = (state?.machine?.dpopRequired ?? false) === required
      return { events: same ? [] : [{ type: 'machine.dpop.changed', payload: { required } }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
