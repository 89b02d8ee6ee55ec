import { startFollowing } from '#lib/subscriptions/follow'
import type { Feed } from '#lib/subscriptions/own-events'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import type { Context } from '../context.ts'
import { canonicalAddress } from '../email/address.ts'
import { keeper, loginAddressKind } from './proved-addresses.ts'
import { readProvedAddresses } from './read-proofs.ts'

/**
 * Keeps the table of the addresses that name people. It follows the events of users, also those from before the table
 * and those of replicas of the former release: states do not say who vouched for an address.
 */
export function startKeepingLoginAddresses(
  context: Context,
  nats: Nats,
  feed: Feed<object>,
  lookEvery = 5000,
): Service {
  const { sql, log } = context
  return startFollowing({
    name: keeper,
    service: 'users',
    feed,
    eventTypes: ['user.human.added', 'user.email.changed', 'user.email.verified'],
    async handle({ aggregateId, type, data }) {
      const isUnverified = data?.['isVerified'] === false
      if (isUnverified && type.startsWith('roster.user.human.added.')) return
      const address = isUnverified && type.startsWith('roster.user.email.changed.') ? data['email'] : undefined
      await keepLoginAddresses(context, aggregateId, typeof address === 'string' ? address : undefined)
    },
    atOnce: 10,
    lookEvery,
    sql,
    nats,
    log,
  })
}

/**
 * Brings the rows of one person up to date. `unverified`: the person only got this address, without a word for it. That
 * takes the address away where it was proved, and changes nothing else. So the events are not read for each change.
 */
export async function keepLoginAddresses(
  { sql, personal }: Pick<Context, 'sql' | 'personal'>,
  userId: string,
  unverified?: string,
): Promise<void> {
  await sql.begin(async (transaction) => {
    // One replica at a time. An erasure destroys the key first: it waits for this lock, or this finds nobody.
    const [person] = await transaction<{ organizationId: string }[]>`
      select a.organization_id as "organizationId" from subject_keys s
      join aggregates a on a.type = 'user' and a.id = s.subject_id
      where s.subject_id = ${userId} for no key update of s
    `
    if (!person) return
    if (unverified !== undefined) {
      const address = personal.storedKey(loginAddressKind, canonicalAddress(unverified))
      const { count } =
        await transaction`select from login_addresses where user_id = ${userId} and address = ${address}`
      if (count === 0) return
    }
    const proved = await readProvedAddresses(transaction, personal, userId)
    const rows = proved.map(({ address, proof, since }) => ({
      user_id: userId,
      address: personal.storedKey(loginAddressKind, address),
      organization_id: person.organizationId,
      proved: proof !== 'organization',
      since,
    }))
    await transaction`delete from login_addresses where user_id = ${userId}`
    if (rows.length > 0) await transaction`insert into login_addresses ${transaction(rows)}`
  })
}
