import type { Human } from '../directory/events/human.ts'
import { isFirst } from './factors/kinds.ts'
import { freshFor } from './fresh-for.ts'
import {
  type CheckedFactor,
  isSetUpByLink,
  type OwnFactors,
  ownFactors,
  proofOf,
  servesFor,
} from './login-policy/login-policy.ts'

/** What a password or a passkey carries that is set up now. */
export interface MarkOfLink {
  byLink?: true
  /** As of Passkey. A password does not carry it: a user manager can set one at any time. */
  setBy?: string
}

/**
 * The mark of what a person sets up by these factors: where a link that counts for nobody with a role, or what was set up by
 * one, is among them, and no other first factor was checked of late. Else whoever named the link would have a way in that
 * counts once the person has a role. `setBy`, where each first factor of late was a passkey with `setBy`.
 */
export function markOfLink(human: Human | undefined, factors: readonly CheckedFactor[], now: Date): MarkOfLink {
  const own = ownFactors(human, { byHandAlone: false })
  const first = factors.filter(isFirst)
  const isOfLate = (factor: CheckedFactor) => now.getTime() - (proofOf(factor)?.getTime() ?? 0) <= freshFor * 1000
  const rests = first.some((factor) => restsOnLink(own, factor))
  if (rests && !first.some((factor) => !restsOnLink(own, factor) && isOfLate(factor))) return { byLink: true }
  const setters = first.filter(isOfLate).map(({ setBy }) => setBy)
  return setters[0] !== undefined && !setters.includes(undefined) ? { setBy: setters[0] } : {}
}

function restsOnLink(own: OwnFactors, factor: CheckedFactor): boolean {
  if (factor.kind !== 'provider') return isSetUpByLink(own, factor)
  // A later link of the same provider did not prove it.
  return !own.linked?.some(
    (link) =>
      link.idpId === factor.idpId &&
      Date.parse(link.linkedAt) <= factor.at.getTime() &&
      servesFor({ byHandAlone: true }, link),
  )
}
