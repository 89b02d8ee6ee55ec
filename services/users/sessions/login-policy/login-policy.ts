import type { Brand } from '../events/login-policy.ts'
import type { FactorKind } from '../events/session.ts'
import { firstFactors } from '../factors/kinds.ts'

export interface CheckedFactor {
  kind: FactorKind
  at: Date
}

/** What an organization demands of those who sign in, and allows them. */
export interface LoginPolicy {
  factors: readonly FactorKind[]
  /** People may register themselves. */
  allowRegister: boolean
  /** A request without a token gets no code for a forgotten password. */
  hidePasswordReset: boolean
  /** Where a page leads to that knows no better way. Empty: nowhere. */
  defaultRedirectUri: string
  /** Seconds from the check of a password until it is asked for again. */
  passwordCheckLifetime: number
  /** How pages look. Missing: as Roster. */
  brand?: Brand
}

export const defaultPolicy: LoginPolicy = {
  factors: ['password'],
  allowRegister: false,
  hidePasswordReset: false,
  defaultRedirectUri: '',
  passwordCheckLifetime: Infinity,
}

/** The factors that a policy demands beside those that were checked. */
export function missingFactors({ factors }: LoginPolicy, checked: readonly CheckedFactor[]): FactorKind[] {
  return factors.filter((kind) => !checked.some((factor) => factor.kind === kind))
}

export function lastFirstFactor(factors: readonly CheckedFactor[]): Date | undefined {
  const times = factors.filter(({ kind }) => firstFactors.includes(kind)).map(({ at }) => at.getTime())
  return times.length > 0 ? new Date(Math.max(...times)) : undefined
}
