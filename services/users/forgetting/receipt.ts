import type { Existing } from '#lib/eventstore/aggregate'
import { orUnavailable, type Sql } from '#lib/eventstore/database'
import type { Context } from '../context.ts'
import { issuerOf } from '../oauth/issuer.ts'
import type { User } from '../vocabulary/user.ts'
import { partTypes } from './parts.ts'

/** What there is of a user in each store of the service, by number. */
export type Holdings = Record<'events' | 'tokens' | 'passwords' | 'knownAddresses' | 'waitingMails', number>

/** Counts what a removal will take. */
export async function holdingsOf(sql: Sql, userId: string): Promise<Holdings> {
  const [row] = await orUnavailable(sql<[Holdings]>`
    select
      (
        select coalesce(sum(sequence), 0)::int from aggregates where id = ${userId} and type = any(${partTypes}::text[])
      ) as events,
      (select count(*)::int from tokens where user_id = ${userId}) as tokens,
      (select count(*)::int from passwords where user_id = ${userId}) as passwords,
      (select count(*)::int from known_addresses where user_id = ${userId}) as "knownAddresses",
      (select count(*)::int from unsent_mails where user_id = ${userId}) as "waitingMails"
  `)
  return row
}

/** The receipt for the removal of a user. */
export function receiptOf(
  { config, signingKeys }: Pick<Context, 'config' | 'signingKeys'>,
  { id, organizationId, sequence, changedAt, state: { forgetAt } }: Existing<User>,
  removedBy: string,
  forgotten: Holdings,
): string {
  return signingKeys.signReceipt({
    iss: issuerOf(config),
    iat: Math.floor(changedAt.getTime() / 1000),
    removal: {
      userId: id,
      organizationId,
      sequence,
      removedAt: changedAt.toISOString(),
      removedBy,
      // Of a removal that can be undone: nothing is forgotten before that time.
      ...(forgetAt !== undefined && { forgetAt }),
      forgotten,
      // The services clean these after the answer; `npm run roster -- forgotten` tells whether they have.
      follows: ['stream', 'deliveries'],
    },
  })
}
