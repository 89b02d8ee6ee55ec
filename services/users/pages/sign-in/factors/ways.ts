import { FactorWay } from '#gen/roster/users/v1/sign_in_service'
import type { SecondFactorKind } from '../../../directory/events/human.ts'
import type { ContextLack } from '../../../openid/judge/authentication-context.ts'
import { ongoing, type Progress } from '../../../openid/request/request-row.ts'
import type { Candidate } from '../../../openid/authorization/candidates.ts'
import { areSecond, maySetUp, provable } from '../../../sessions/factors/asked-first.ts'
import { isWayOut } from '../../../sessions/factors/kinds.ts'
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
  return provable(lackedSecondFactors(person), person.user, person.signedInUser.policy).flatMap((kind) =>
    kind === shown || !ways[kind] ? [] : [ways[kind]],
  )
}

export function wayOf(kind: SecondFactorKind): FactorWay {
  return ways[kind] ?? FactorWay.FACTOR_WAY_UNSPECIFIED
}

/** Whether the person may set up an authenticator app in this sign-in. */
export function mayBeSetUp(person: Candidate): boolean {
  return !beganByMail(person) && maySetUp(lackedSecondFactors(person), person.user.human)
}

/** A code by mail was the first factor, or will be: the mailbox proves nothing more, and adds nothing. Who came by a provider needs none. */
export function beganByMail({ reads, signedInUser: { policy } }: Pick<Candidate, 'reads' | 'signedInUser'>): boolean {
  const factors = reads.session.state?.factors ?? []
  const has = (kind: FactorKind) => factors.some((factor) => factor.kind === kind)
  return has('mailed-code') || (policy.factors.includes('mailed-code') && !has('provider'))
}

/** What the person is asked for by the application alone (`acr`). */
export function askedContext({ verdict }: Pick<Candidate, 'verdict'>): ContextLack | undefined {
  const lack = 'missing' in verdict ? verdict.missing[0] : undefined
  return lack && 'acr' in lack && lack.acr ? lack : undefined
}

/** Days for which the browser need not be asked for this again. 0: it is always asked, as for what an application wants. */
export function trustDays(person: Candidate, kind: SecondFactorKind): number {
  const isOffered = lackedSecondFactors(person).includes(kind) && !askedContext(person) && !isWayOut(kind)
  return isOffered ? person.signedInUser.policy.trustedBrowserDays : 0
}

/** Whether the application is answered without it, too. */
export function mayPassOver(person: Pick<Candidate, 'verdict'>): boolean {
  return askedContext(person)?.maySkip === true
}

/** What a page goes on with once a factor was proved: what was passed over stays so. `person`: passes over what is asked. */
export function goingOn(progress: Progress, person?: Pick<Candidate, 'verdict'>): Progress {
  const { passedOver = [] } = progress
  const lack = person && askedContext(person)
  const all = lack?.maySkip ? [...passedOver, lack.acr] : passedOver
  return { ...ongoing(progress), ...(all.length > 0 && { passedOver: all }) }
}
