import type { User } from '../../../directory/events/user.ts'
import type { LoginUser } from '../../../directory/login-names/login-user.ts'
import type { ProvedFactor } from '../factor.ts'
import { kind } from './mailed-code.ts'

/** A mailbox that another mailed code has proved a moment ago: that of a registration, or of an invitation. */
export function provedMailbox(user: LoginUser): ProvedFactor {
  const email = user.state.human?.email
  const holds = (now: User | undefined) => now?.human?.isVerified === true && now.human.email === email
  return { kind, user, holds, writes: [], guards: [], uses: [] }
}
