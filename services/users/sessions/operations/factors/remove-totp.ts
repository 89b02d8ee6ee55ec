import type { RemoveTOTPRequest, RemoveTOTPResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { changeFactors } from '../../factors/change.ts'
import { removal } from '../../factors/removal.ts'
import { permitFactors } from '../../change-factors.ts'
import { leavingEnough } from '../../passkeys/last-factor.ts'
import { requireFreshSession } from '../../fresh-session.ts'

export const removeTOTP = {
  permit: permitFactors,

  async handle(context: Context, { userId }: RemoveTOTPRequest, call: Call): Promise<RemoveTOTPResponse> {
    await requireFreshSession(context, userId, call)
    const leaves = await leavingEnough(context, userId, call)
    const decide = (human: Parameters<typeof removal>[1]) => removal(userId, human, 'totp', leaves)
    return changeFactors(context, { userId, told: 'factor-removed', decide }, call)
  },
}
