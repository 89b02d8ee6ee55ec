import { AuthFactorState, type ListPasskeysRequest, type ListPasskeysResponse } from '#gen/roster/users/v1/user_service'
import { details } from '#lib/eventstore/aggregate'
import type { Context } from '../../../context.ts'
import type { User } from '../../../directory/events/user.ts'
import { existing } from '../../../directory/states/user-state.ts'
import { usesOfPasskeys } from '../../factors/passkey/passkey-rows.ts'

export async function listPasskeys(context: Context, { userId }: ListPasskeysRequest): Promise<ListPasskeysResponse> {
  const [user, uses] = await Promise.all([context.store.load<User>('user', userId), usesOfPasskeys(context, userId)])
  const { human } = existing(user?.state)
  return {
    details: details(user!),
    passkeys: (human?.passkeys ?? []).map(({ id, name, createdAt, aaguid, rpId, secondOnly = false }) => ({
      id,
      name,
      creationDate: new Date(createdAt),
      lastUseDate: uses.get(id)?.usedAt ?? undefined,
      aaguid,
      rpId,
      backedUp: uses.get(id)?.backedUp === true,
      secondOnly,
      state: AuthFactorState.AUTH_FACTOR_STATE_READY,
    })),
  }
}
