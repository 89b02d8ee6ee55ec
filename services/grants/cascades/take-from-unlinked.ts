import type { Event } from '#gen/roster/feed/v1/feed'
import { orUnavailable } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { because } from '#lib/subscriptions/follow'
import { removedHolding } from './removed-holding.ts'
import type { Context } from '../context.ts'
import type { UserGrant, UserGrantEvent } from '../vocabulary/user-grant.ts'

/** Takes from a user what an identity provider gave that signs the user in no more. A sign-in since then gave it anew. */
export async function takeFromUnlinked({ sql, store }: Context, event: Event): Promise<void> {
  const { aggregateId: userId, time } = event
  const idpId = event.data?.['idpId'] as string
  const given = await orUnavailable(sql<{ id: string }[]>`
    select grant_id as id from user_grants where user_id = ${userId} and idp_id = ${idpId} and idp_id <> ''
  `)
  for (const { id } of given)
    await store.execute({
      aggregate: { type: 'user_grant', id },
      call: because(event),
      decide: (grant: Aggregate<UserGrant>): Decision<UserGrantEvent> => {
        const { signedInAt = '' } = grant.state ?? {}
        return Date.parse(signedInAt) > time!.getTime() ? { events: [], answer: undefined } : removedHolding(grant)
      },
      respond: () => undefined,
    })
}
