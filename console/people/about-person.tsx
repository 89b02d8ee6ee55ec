import type { UsersUser } from '#gen/console/api'
import { common } from '../texts/common.ts'
import { factorNames, invited, states } from './words.ts'

export function nameOf(user: UsersUser): string {
  return user.human?.profile?.displayName || user.machine?.name || user.userName || user.userId || ''
}

/** The state. A person who has nothing to sign in with yet is invited, where the user comes with factors and last sign-in. */
export function StateTag({ user, withFactors = false }: { user: UsersUser; withFactors?: boolean }) {
  const isInvited = withFactors && user.human && !user.factors?.length && !user.lastSignInDate
  const state = user.state ?? 'USER_STATE_UNSPECIFIED'
  const { text, tone } = (isInvited && state === 'USER_STATE_ACTIVE' ? invited : states[state]) ?? {
    text: state,
    tone: '',
  }
  return <span class={`tag ${tone}`}>{text}</span>
}

/** The names of what somebody has to sign in with, each once. */
export function factorsOf(user: UsersUser): string {
  const names = (user.factors ?? []).map(({ type }) => factorNames[type ?? 'FACTOR_TYPE_UNSPECIFIED'] ?? type ?? '')
  return [...new Set(names)].join(', ') || common.none
}
