import type { UsersUser } from '#gen/console/api'
import { common } from '../texts/common.ts'
import { factorNames, states } from './words.ts'

export function nameOf(user: UsersUser): string {
  return user.human?.profile?.displayName || user.userName || user.userId || ''
}

export function StateTag({ user }: { user: UsersUser }) {
  const { text, tone } = states[user.state ?? 'USER_STATE_UNSPECIFIED'] ?? { text: user.state, tone: '' }
  return <span class={`tag ${tone}`}>{text}</span>
}

/** The names of what somebody has to sign in with, each once. */
export function factorsOf(user: UsersUser): string {
  const names = (user.factors ?? []).map(({ type }) => factorNames[type ?? 'FACTOR_TYPE_UNSPECIFIED'] ?? type ?? '')
  return [...new Set(names)].join(', ') || common.none
}
