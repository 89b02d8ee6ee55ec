import { v7 as uuid } from 'uuid'
import { Gender } from '#gen/roster/users/v1/user'
import type { Transaction, Write } from '#lib/database/database'
import type { Decision, Guard } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { isOpen } from '../../../organization-status.ts'
import type { Context } from '../../context.ts'
import type { LoginUser } from '../../directory/login-names/login-user.ts'
import { claimUserName, newProfile } from '../../directory/new-user.ts'
import { statuses } from '../../directory/organizations/statuses.ts'
import type { User, UserEvent } from '../../directory/events/user.ts'
import { takeAddress } from '../../directory/login-names/address-holder.ts'
import { madeUserName } from './made-user-name.ts'
import { type StoredRegistration, usingUp } from './registration.ts'

/** What comes with the new user in one transaction. */
interface Along {
  requestId: string
  /** Of the password. Null: the person signs in with mailed codes. */
  hash: string | null
  writes: Write[]
  guards: Guard[]
}

/**
 * Adds the user of a registration whose code was right, by the user's own hand: the code has proved the address. Throws
 * `AddressTaken`, `OrganizationClosed`, and `Superseded` where the registration was used up or another took its place.
 */
export function addRegistered(
  context: Context,
  registration: StoredRegistration,
  { requestId, hash, writes, guards }: Along,
  call: Call,
): Promise<LoginUser> {
  const userId = uuid()
  const { organizationId, email, givenName: firstName, familyName: lastName, language, code } = registration
  const userName = madeUserName(registration)
  const profile = newProfile({
    firstName,
    lastName,
    preferredLanguage: language,
    gender: Gender.GENDER_UNSPECIFIED,
  })
  const used = usingUp(requestId, registration)
  const taken = takeAddress(context, userId, registration)
  return context.store.execute({
    aggregate: { type: 'user', id: userId },
    creates: true,
    reads: { status: statuses.key(organizationId) },
    call: { caller: { userId }, requestId: call.requestId, deadline: call.deadline },
    decide(_user, _now, { status }): Decision<UserEvent> {
      if (!isOpen(status)) throw new OrganizationClosed()
      return {
        organizationId,
        claims: [claimUserName(organizationId, userName)],
        events: [{ type: 'human.added', payload: { userName, profile, email, isVerified: true, codeId: code.codeId } }],
        writes: [
          ...(hash === null
            ? []
            : [(sql: Transaction) => sql`insert into passwords (user_id, hash) values (${userId}, ${hash})`]),
          taken.write,
          ...used.writes,
          ...writes,
        ],
        guards: [used.guard, taken.guard, ...guards],
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ userId, organizationId, state: after.state as User, hash, known: [] }),
  })
}

/** The organization was deactivated or removed meanwhile. */
export class OrganizationClosed extends Error {
  constructor() {
    super('the organization is closed')
  }
}
