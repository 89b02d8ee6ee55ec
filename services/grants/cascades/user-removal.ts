import type { Event } from '#gen/roster/feed/v1/feed'
import type { AggregateKey } from '#lib/eventstore/aggregate'
import { because, startFollowing } from '#lib/subscriptions/follow'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import type { Context } from '../context.ts'
import { takeFromUnlinked } from './take-from-unlinked.ts'
import { removalTombstone, storeTombstone } from '../tombstones.ts'
import { portion } from './in-portions.ts'
import { removedHolding } from './removed-holding.ts'

/** Takes from a removed user everything that it holds. The event comes again where this was not finished. */
export function startUserRemoval(context: Context, nats: Nats, log: Log): Service {
  return startFollowing({
    name: 'user-removal',
    service: 'users',
    feed: (request, call) => context.users.listEvents(request, call),
    eventTypes: ['user.removed', 'user.forgotten', 'user.idp.unlinked'],
    handle: (event) =>
      event.type.startsWith('roster.user.idp.') ? takeFromUnlinked(context, event) : removeHoldings(context, event),
    atOnce: 16,
    sql: context.sql,
    nats,
    log,
  })
}

async function removeHoldings({ sql, store }: Context, event: Event): Promise<void> {
  const { aggregateId: userId, organizationId } = event
  // The removal can be undone, and then the user has all roles again.
  if (event.data?.['forgetAt'] !== undefined) return
  const call = because(event)
  // The tombstone comes first. A gift that was stored before it is found below.
  await store.execute({
    aggregate: removalTombstone(userId),
    call,
    decide: (tombstone) => storeTombstone(tombstone, organizationId),
  })
  for (;;) {
    const holdings = await sql<AggregateKey[]>`
      select type, id from aggregates
      where type in ('member', 'user_grant') and not state ? 'removed' and state ->> 'userId' = ${userId}
      limit ${portion}
    `
    await Promise.all(holdings.map((aggregate) => store.execute({ aggregate, call, decide: removedHolding })))
    if (holdings.length < portion) return
  }
}
