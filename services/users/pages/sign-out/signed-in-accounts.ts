import type { Account } from '#gen/roster/users/v1/sign_in_service'
import type { Browser } from '../../sessions/browsers/session-cookie.ts'
import { sessionsOf } from '../../sessions/browsers/browser-sessions.ts'
import type { Context } from '../../context.ts'
import { knownName, type User } from '../../directory/events/user.ts'

/** A person who is signed in, in a browser. */
export interface SignedIn extends Account {
  userId: string
}

/** Who is signed in, in this browser, the last one first. UNAVAILABLE STORE_UNAVAILABLE. */
export async function signedInAccounts(
  { store }: Pick<Context, 'store'>,
  browser: Browser | undefined,
): Promise<SignedIn[]> {
  return Promise.all(
    sessionsOf(browser, '').map(async ({ sessionId, userId }) => {
      const user = await store.load<User>('user', userId)
      const loginName = user ? knownName(user.state) : ''
      return { sessionId, userId, displayName: user?.state.human?.profile.displayName ?? loginName, loginName }
    }),
  )
}
