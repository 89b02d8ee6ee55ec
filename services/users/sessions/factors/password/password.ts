import type { LoginUser } from '../../../directory/login-names/login-user.ts'
import { passwordOf, type User } from '../../../directory/events/user.ts'
import { checkPassword } from '../../../directory/passwords/check-password.ts'
import { renewHash } from '../../../directory/passwords/store-password.ts'
import type { Factor, ProvedFactor } from '../factor.ts'

/** UNAUTHENTICATED CREDENTIALS_INVALID; RESOURCE_EXHAUSTED SIGN_IN_THROTTLED, PASSWORDS_THROTTLED. */
export const password: Factor = {
  async check(context, { loginName, find, text }, call) {
    const attempted = { loginName, password: text, find }
    const { user, takingBack, renewedHash, rememberAddress } = await checkPassword(context, attempted, call)
    const renewing = renewedHash === undefined ? [] : [renewHash(user.userId, user.hash!, renewedHash)]
    return { ...provedPassword(user), writes: [takingBack, ...renewing], settle: rememberAddress }
  },
}

/** The password of a user, as of when it was read: it may be changed before the session is stored. */
export function provedPassword(user: LoginUser): ProvedFactor {
  const checked = passwordOf(user.state)
  const holds = (state: User | undefined) => passwordOf(state) === checked
  return { kind: 'password', user, holds, writes: [], guards: [], uses: [] }
}
