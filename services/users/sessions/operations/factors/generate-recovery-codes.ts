import type { GenerateRecoveryCodesRequest, GenerateRecoveryCodesResponse } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { userNotFound } from '../../../directory/events/user-not-found.ts'
import { changeFactors } from '../../factors/change.ts'
import { withoutGuesses } from '../../factors/guesses.ts'
import { hasSecondFactor } from '../../factors/kinds.ts'
import { keepingCodes, newCodes } from '../../factors/recovery-code/codes.ts'
import { permitFactors } from '../../change-factors.ts'
import { requireFreshSession } from '../../fresh-session.ts'

export const generateRecoveryCodes = {
  permit: permitFactors,

  async handle(
    context: Context,
    { userId }: GenerateRecoveryCodesRequest,
    call: Call,
  ): Promise<GenerateRecoveryCodesResponse> {
    await requireFreshSession(context, userId, call)
    const recoveryCodes = newCodes()
    const keeping = await keepingCodes(context, userId, recoveryCodes)
    if (!keeping) throw userNotFound()
    const change = {
      userId,
      more: { recoveryCodes },
      told: 'recovery-codes-made',
      decide(human: Parameters<typeof hasSecondFactor>[0]) {
        if (!hasSecondFactor(human)) throw nothingToStandFor()
        return {
          events: [{ type: 'factor.added', payload: { kind: 'recovery-code' } } as const],
          writes: [...keeping, withoutGuesses(userId, 'recovery-code')],
        }
      },
    } as const
    return changeFactors(context, change, call)
  },
}

function nothingToStandFor(): RosterError {
  return new RosterError(
    'FAILED_PRECONDITION',
    'FACTOR_NOT_AVAILABLE',
    'Recovery codes stand for another second factor, and the user has none.',
  )
}
