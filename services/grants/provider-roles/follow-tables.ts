import { isDeepStrictEqual } from 'node:util'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { orUnavailable } from '#lib/database/database'
import { because, startFollowing } from '#lib/subscriptions/follow'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { portion } from '../cascades/in-portions.ts'
import type { Context } from '../context.ts'
import {
  keyOfProviderTable,
  type ProviderTable,
  type ProviderTableEvent,
  type TableRow,
} from '../vocabulary/provider-table.ts'
import type { UserGrant } from '../vocabulary/user-grant.ts'
import { decideRest } from './provider-grant.ts'

/**
 * Takes away what a row of a provider's table gave, once the row or the provider is gone. An event only says of which provider:
 * what is noted is idp's own answer. It comes first, so that a sign-in which matched earlier rows gives no more than it says.
 */
export function startFollowingTables(context: Context, nats: Nats, log: Log): Service {
  const { idp, sql } = context
  return startFollowing({
    name: 'provider-roles',
    service: 'idp',
    feed: idp.listEvents,
    eventTypes: ['idp.roles.set', 'idp.removed'],
    async handle(event) {
      const call = because(event)
      const idpId = event.aggregateId
      const { organizationId, sequence, roleRows } = await idp.lookupProvider({ idpId }, call)
      const rows = await context.store.execute({
        aggregate: keyOfProviderTable(idpId),
        call,
        decide: (table: Aggregate<ProviderTable>) => note(table, { sequence, rows: roleRows }, organizationId),
        respond: ({ after }) => after.state?.rows ?? [],
      })
      await takeWhatIsGone(context, idpId, rows, call)
    },
    sql,
    nats,
    log,
  })
}

function note(
  { state }: Aggregate<ProviderTable>,
  latest: ProviderTable,
  organizationId: string,
): Decision<ProviderTableEvent> {
  // Most providers have no table.
  const isKnown = state ? state.sequence >= latest.sequence : latest.rows.length === 0
  if (isKnown || isDeepStrictEqual(state?.rows, latest.rows)) return { events: [], answer: undefined }
  return { organizationId, events: [{ type: 'noted', payload: latest }], answer: undefined }
}

async function takeWhatIsGone(
  { sql, store }: Context,
  idpId: string,
  rows: readonly TableRow[],
  call: ReturnType<typeof because>,
): Promise<void> {
  for (let after = ''; ;) {
    const found = await orUnavailable(sql<{ id: string }[]>`
      select grant_id as id from user_grants
      where idp_id = ${idpId} and idp_id <> '' and grant_id > ${after} order by grant_id limit ${portion}
    `)
    for (const { id } of found)
      await store.execute({
        aggregate: { type: 'user_grant', id },
        call,
        decide: (grant: Aggregate<UserGrant>) => decideRest(grant, rows),
        respond: () => undefined,
      })
    if (found.length < portion) return
    after = found.at(-1)!.id
  }
}
