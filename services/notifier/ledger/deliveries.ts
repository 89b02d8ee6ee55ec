import type { Sql } from '#lib/database/database'

/** A row of `deliveries`, with the time of its next try. */
export interface DeliveryRow {
  position: string
  id: string
  kind: 'mail' | 'webhook' | 'logout'
  state: 'queued' | 'sent' | 'failed' | 'superseded'
  organization_id: string
  event_id: string
  event_type: string
  user_id: string
  webhook_id: string | null
  code_id: string | null
  application_id: string | null
  attempts: number
  error: string
  created_at: Date
  changed_at: Date
  /** When its chain may go on, or it is tried again. Null if nothing waits. */
  due_at: Date | null
}

/** Selects rows without their payloads. The caller adds the condition. */
export function selectDeliveries(sql: Sql) {
  return sql`
    select position, id, kind, state, deliveries.organization_id, event_id, event_type, user_id, webhook_id, code_id,
      deliveries.application_id, attempts, error, created_at, changed_at, coalesce(chains.due_at, logouts.due_at, retry_at) as due_at
    from deliveries left join chains using (webhook_id, aggregate) left join logouts on logouts.delivery_id = id
  `
}
