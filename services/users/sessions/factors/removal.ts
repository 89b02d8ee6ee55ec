import { RosterError } from '#lib/errors'
import type { Write } from '#lib/database/database'
import type { Human, SecondFactorKind } from '../../directory/events/human.ts'
import type { Passkey } from '../../directory/events/passkeys.ts'
import type { UserEvent } from '../../directory/events/user.ts'
import { withoutGuesses } from './guesses.ts'
import { hasFactor, hasSecondFactor } from './kinds.ts'
import { withoutCodes } from './recovery-code/codes.ts'
import { withoutTotpSecret } from './totp/secrets.ts'

/** Throws where a user would be left with less than what is demanded. */
export type LeavesEnough = (before: Human, after: Human) => void

/**
 * Removes a second factor of a user. With the last one go the recovery codes: they would count again with the next one,
 * whoever has them by then. NOT_FOUND FACTOR_NOT_FOUND; errors of `leavesEnough`.
 */
export function removal(
  userId: string,
  human: Human,
  kind: SecondFactorKind,
  leavesEnough?: LeavesEnough,
): { events: UserEvent[]; writes: Write[] } {
  if (!hasFactor(human, kind)) throw new RosterError('NOT_FOUND', 'FACTOR_NOT_FOUND', 'The user has no such factor.')
  const left = (human.secondFactors ?? []).filter((other) => other !== kind)
  leavesEnough?.(human, { ...human, secondFactors: left })
  return removing(userId, [kind, ...idle(human, left)])
}

/** Likewise the recovery codes alone, where a security key was the last one of these that a user had. */
export function removalWithKey(userId: string, human: Human, passkeys: Passkey[]): ReturnType<typeof removal> {
  return removing(userId, idle({ passkeys }, human.secondFactors ?? []))
}

// What stands for another factor, and none is left.
function idle({ passkeys = [] }: Pick<Human, 'passkeys'>, left: SecondFactorKind[]): SecondFactorKind[] {
  return hasSecondFactor({ secondFactors: left, passkeys }) ? [] : left
}

function removing(userId: string, gone: SecondFactorKind[]): { events: UserEvent[]; writes: Write[] } {
  return {
    events: gone.map((one) => ({ type: 'factor.removed', payload: { kind: one } })),
    writes: gone.flatMap((one) => withoutFactor(userId, one)),
  }
}

/** Forgets what is kept of a factor beside the events. */
export function withoutFactor(userId: string, kind: SecondFactorKind): Write[] {
  const secrets: Partial<Record<SecondFactorKind, Write>> = {
    totp: withoutTotpSecret(userId),
    'recovery-code': withoutCodes(userId),
  }
  return [withoutGuesses(userId, kind), ...(secrets[kind] ? [secrets[kind]] : [])]
}
