import type { UsersSearchQuery, UsersUserState } from '#gen/console/api'
import { words } from './words.ts'

export const stateOptions = {
  '': words.anyState,
  active: words.active,
  inactive: words.inactive,
  locked: words.locked,
}

const stateValues: Record<string, UsersUserState> = {
  active: 'USER_STATE_ACTIVE',
  inactive: 'USER_STATE_INACTIVE',
  locked: 'USER_STATE_LOCKED',
}

/** The filter by state that the address names. What it does not name is a stranger's text: none. */
export function chosenState(chosen: string): UsersSearchQuery[] {
  const state = stateValues[chosen]
  return state ? [{ stateQuery: { state } }] : []
}
