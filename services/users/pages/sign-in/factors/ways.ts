import { FactorWay } from '#gen/roster/users/v1/sign_in_service'
import type { SecondFactorKind } from '../../../directory/events/human.ts'
import type { Candidate } from '../../../openid/authorization/candidates.ts'
import { areSecond, maySetUp, provable } from '../../../sessions/factors/asked-first.ts'
import type { FactorKind } from '../../../sessions/events/session.ts'

const ways: Partial<Record<FactorKind, FactorWay>> = {
  passkey: FactorWay.FACTOR_WAY_PASSKEY,
  totp: FactorWay.FACTOR_WAY_TOTP,
  'otp-email': FactorWay.FACTOR_WAY_MAIL,
  'recovery-code': FactorWay.FACTOR_WAY_RECOVERY_CODE,
}

/** The second factors of which a person lacks one; none: another factor comes first, or nothing is missing. */
export function lackedSecondFactors({ verdict }: Pick<Candidate, 'verdict'>): readonly FactorKind[] {
  const lack = 'missing' in verdict ? verdict.missing[0] : undefined
  return lack?.what === 'factor' && areSecond(lack.kinds) ? lack.kinds : []
}

/** What else than this the person may use. */
export function otherWays(person: Candidate, shown: SecondFactorKind): FactorWay[] {
  return provable(lackedSecondFactors(person), person.user).flatMap((kind) =>
    kind === shown || !ways[kind] ? [] : [ways[kind]],
  )
}

export function wayOf(kind: SecondFactorKind): FactorWay {
  return ways[kind] ?? FactorWay.FACTOR_WAY_UNSPECIFIED
}

/** Whether the person may set up an authenticator app in this sign-in. */
export function mayBeSetUp(person: Candidate): boolean {
  return maySetUp(lackedSecondFactors(person), person.user.human)
}
