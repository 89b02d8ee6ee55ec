import { orUnavailable, type Statement } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Guard } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import { canonicalAddress } from '../../directory/email/address.ts'
import { loginAddressKind } from '../../directory/login-names/proved-addresses.ts'
import type { Registration } from './registration.ts'

type Named = Pick<Registration, 'email' | 'organizationId' | 'anywhere'>

/** The user that the address would sign in. */
export async function findHolder(
  { sql, personal }: Pick<Context, 'sql' | 'personal'>,
  registration: Named,
): Promise<string | undefined> {
  const of = JSON.stringify(wanted({ personal }, registration))
  const [holder] = await orUnavailable(sql<{ userId: string }[]>`
    select user_id as "userId" from address_holders(${of}::text::jsonb) limit 1
  `)
  return holder?.userId
}

/**
 * Gives a new user the address, beside the event: of two registrations at once, one gets it. The follower of events that
 * keeps these rows makes the same one a moment later.
 */
export function takeAddress(
  { personal }: Pick<Context, 'personal'>,
  userId: string,
  registration: Named,
): { write: Statement; guard: Guard } {
  const of = wanted({ personal }, registration)
  return {
    write: (sql) => sql`
      insert into login_addresses (user_id, address, organization_id, proved, since)
      select ${userId}, ${of.address}, ${of.organizationId}, true, position from events
      where aggregate_type = 'user' and aggregate_id = ${userId} and type = 'human.added'
    `,
    guard: {
      key: JSON.stringify(['registered address', of.address]),
      counted: { by: 'count_address_holders', of },
      most: 1,
      full: new AddressTaken(),
    },
  }
}

/** Another user has proved the address meanwhile. No caller gets this error: a page says so. */
export class AddressTaken extends RosterError {
  constructor() {
    super('ALREADY_EXISTS', 'ADDRESS_TAKEN', 'The address has an account by now.')
  }
}

function wanted({ personal }: Pick<Context, 'personal'>, { email, organizationId, anywhere }: Named) {
  return { address: personal.storedKey(loginAddressKind, canonicalAddress(email)), organizationId, anywhere }
}
