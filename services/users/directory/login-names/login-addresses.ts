import type { Event } from '#gen/roster/feed/v1/feed'
import { startFollowing } from '#lib/subscriptions/follow'
import type { Feed } from '#lib/subscriptions/own-events'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import type { Context } from '../../context.ts'
import { keeper } from './proved-addresses.ts'
import { addressKey, readProvedAddresses } from './read-proofs.ts'

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
    needWork: (events) => withoutUnproved(context, events),
    handle: ({ aggregateId }) => keepLoginAddresses(context, aggregateId),
    atOnce: 10,
    lookEvery,
    sql,
    nats,
    log,
  })
}

// An address without a word for it is taken away where it was proved, and changes nothing else. Nothing is locked for this
// look: another replica that writes rows looks for later events after that.
async function withoutUnproved({ sql, personal }: KeepingContext, events: Event[]): Promise<Set<Event>> {
  const needed = new Set(events)
  const changes: { event: Event; address: string }[] = []
  for (const event of events) {
    const { type, data } = event
    if (data?.['isVerified'] !== false) continue
    const { email } = data
    if (type.startsWith('roster.user.human.added.')) needed.delete(event)
    else if (typeof email === 'string') changes.push({ event, address: addressKey(personal, email) })
  }
  if (changes.length === 0) return needed
  const rows = await sql<{ index: number }[]>`
    select (c.index - 1)::int as index from unnest(
      ${changes.map(({ event }) => event.aggregateId)}::text[], ${changes.map(({ address }) => address)}::text[]
    ) with ordinality c (user_id, address, index) join login_addresses using (user_id, address)
  `
  const named = new Set(rows.map(({ index }) => index))
  for (const [index, { event }] of changes.entries()) if (!named.has(index)) needed.delete(event)
  return needed
}

type KeepingContext = Pick<Context, 'sql' | 'personal'>

/** Brings the rows of one person up to date. */
export async function keepLoginAddresses(context: KeepingContext, userId: string): Promise<void> {
  let reached = await writeLoginAddresses(context, userId)
  while (reached !== undefined) {
    const [user] = await context.sql<{ sequence: string }[]>`
      select sequence from aggregates where type = 'user' and id = ${userId}
    `
    if (user?.sequence === reached) return
    reached = await writeLoginAddresses(context, userId)
  }
}

/** Returns the sequence that the person's aggregate had before its events were read. Undefined: it does not exist. */
async function writeLoginAddresses(context: KeepingContext, userId: string): Promise<string | undefined> {
  return context.sql.begin(async (transaction) => {
    // One replica at a time. An erasure destroys the key first: it waits for this lock, or this finds no user.
    const [person] = await transaction<{ organizationId: string; sequence: string }[]>`
      select a.organization_id as "organizationId", a.sequence from subject_keys s
      join aggregates a on a.type = 'user' and a.id = s.subject_id
      where s.subject_id = ${userId} for no key update of s
    `
    if (!person) return undefined
    const rows = (await readProvedAddresses(transaction, context.personal, userId)).map(
      ({ address, proof, since }) => ({
        user_id: userId,
        address,
        organization_id: person.organizationId,
        proved: proof !== 'organization',
        since,
      }),
    )
    await transaction`delete from login_addresses where user_id = ${userId}`
    if (rows.length > 0) await transaction`insert into login_addresses ${transaction(rows)}`
    return person.sequence
  })
}
