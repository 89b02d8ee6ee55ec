import { orUnavailable, type Statement } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Guard } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import { canonicalAddress } from '../email/address.ts'
import { isProof, loginAddressKind, type Proof } from './proved-addresses.ts'
import { domainOfAddress } from '../organizations/verified-domains.ts'

interface Named {
  email: string
  /** Where the address would sign somebody in. */
  organizationId: string
  /** In any organization. */
  anywhere: boolean
}

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
 * keeps these rows makes the same one a moment later. `proof`: what the event is worth.
 */
export function takeAddress(
  { personal }: Pick<Context, 'personal'>,
  userId: string,
  registration: Named,
  proof: Proof = 'code',
): { write: Statement; guard: Guard } {
  const of = wanted({ personal }, registration)
  return {
    write: (sql) => sql`
      insert into login_addresses (user_id, address, organization_id, proved, since)
      select ${userId}, ${of.address}, ${of.organizationId}, ${isProof(proof)}, position from events
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
  const address = personal.storedKey(loginAddressKind, canonicalAddress(email))
  return { address, domain: domainOfAddress(email), organizationId, anywhere }
}
