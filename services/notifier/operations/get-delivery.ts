import type { GetDeliveryRequest, GetDeliveryResponse } from '#gen/roster/notifier/v1/delivery_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { type DeliveryRow, selectDeliveries } from '../ledger/deliveries.ts'
import { showDelivery } from '../show.ts'
import { isVisible } from '../visible.ts'
import { deliveryNotFound } from '../vocabulary.ts'

export async function getDelivery(
  { sql }: Context,
  { deliveryId }: GetDeliveryRequest,
  call: Call,
): Promise<GetDeliveryResponse> {
  const [row] = await orUnavailable(sql<DeliveryRow[]>`
    ${selectDeliveries(sql)} where id = ${deliveryId}
  `)
  if (!row || !isVisible(call, 'iam.webhook.read', row.organization_id)) throw deliveryNotFound()
  return { delivery: showDelivery(row) }
}
