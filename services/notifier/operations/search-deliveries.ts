import type { SearchDeliveriesRequest, SearchDeliveriesResponse } from '#gen/roster/notifier/v1/delivery_service'
import { orUnavailable } from '#lib/database/database'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { type DeliveryRow, selectDeliveries } from '../ledger/deliveries.ts'
import { kinds, showDelivery, states } from '../show.ts'
import { permitInstance } from '../visible.ts'

const defaultLimit = 100

export const searchDeliveries = {
  permit: permitInstance('iam.webhook.read'),

  async handle({ sql }: Context, request: SearchDeliveriesRequest, call: Call): Promise<SearchDeliveriesResponse> {
    const { webhookId, userId, eventId, allOrganizations, cursor } = request
    const limit = request.limit || defaultLimit
    const kind = nameOf(kinds, request.kind)
    const state = nameOf(states, request.state)
    const rows = await orUnavailable(sql<DeliveryRow[]>`
      ${selectDeliveries(sql)}
      where deliveries.organization_id = ${allOrganizations ? instance.id : call.organizationId}
        ${cursor ? sql`and position < ${cursor}` : sql``}
        ${kind ? sql`and kind = ${kind}` : sql``}
        ${state ? sql`and state = ${state}` : sql``}
        ${webhookId ? sql`and webhook_id = ${webhookId}` : sql``}
        ${userId ? sql`and user_id = ${userId}` : sql``}
        ${eventId ? sql`and event_id = ${eventId}` : sql``}
      order by position desc
      limit ${limit + 1}
    `)
    const page = rows.slice(0, limit)
    return {
      deliveries: page.map(showDelivery),
      nextCursor: rows.length > limit ? page.at(-1)!.position : '',
    }
  },
}

function nameOf<Name extends string>(numbers: Record<Name, number>, wanted: number): Name | undefined {
  return (Object.keys(numbers) as Name[]).find((name) => numbers[name] === wanted)
}
