import type { RemoveRecoveryCodesRequest, RemoveRecoveryCodesResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { changeFactors } from '../../factors/change.ts'
import { removal } from '../../factors/removal.ts'
import { permitFactors } from '../../change-factors.ts'
import { requireFreshSession } from '../../fresh-session.ts'

export const removeRecoveryCodes = {
  permit: permitFactors,

  async handle(
    context: Context,
    { userId }: RemoveRecoveryCodesRequest,
    call: Call,
  ): Promise<RemoveRecoveryCodesResponse> {
    await requireFreshSession(context, userId, call)
    const decide = (human: Parameters<typeof removal>[1]) => removal(userId, human, 'recovery-code')
    return changeFactors(context, { userId, told: 'factor-removed', decide }, call)
  },
}
