import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { changeFactors, type FactorChange } from '../../factors/change.ts'
import { withoutGuesses } from '../../factors/guesses.ts'
import { hasFactor } from '../../factors/kinds.ts'
import { removal } from '../../factors/removal.ts'
import { mayAddBy, permitAdding, permitFactors } from '../../change-factors.ts'
import { type OwnSession, requireFreshSession } from '../../fresh-session.ts'
import { requireVouchingSession } from '../../login-client-session.ts'

const kind = 'otp-email'

/** The user is asked for a code by mail from now on. */
export const addOTPEmail = operation('factor-added', (userId, own) => (human) => {
  mayAddBy(own)(human)
  if (!human.isVerified)
    throw new RosterError('FAILED_PRECONDITION', 'EMAIL_NOT_VERIFIED', 'The address of the user is not verified.')
  if (hasFactor(human, kind))
    throw new RosterError('ALREADY_EXISTS', 'FACTOR_EXISTS', 'The user has this factor already.')
  return { events: [{ type: 'factor.added', payload: { kind } }], writes: [withoutGuesses(userId, kind)] }
})

/** The user is asked for it no more, unless the login policy demands it. */
export const removeOTPEmail = operation('factor-removed', (userId) => (human) => removal(userId, human, kind))

function operation(
  told: FactorChange['told'],
  decideFor: (userId: string, own: OwnSession | undefined) => FactorChange['decide'],
) {
  const adds = told === 'factor-added'
  return {
    permit: adds ? permitAdding : permitFactors,
    async handle(context: Context, { userId }: { userId: string }, call: Call) {
      const own = await (adds ? requireVouchingSession : requireFreshSession)(context, userId, call)
      return changeFactors(context, { userId, told, decide: decideFor(userId, own) }, call)
    },
  }
}
