import { randomUUID } from 'node:crypto'
import type { Sql } from '#lib/eventstore/database'

/** Seconds after which somebody else may go on with a chain that was taken: longer than a try may last. */
const takenFor = 30
/** Milliseconds after which whoever took it begins no more: a try lasts up to 16 s. */
const lateAfter = 10_000

/** The head of a chain, taken by this process alone. */
export interface Taken {
  webhookId: string
  url: string
  /** Sealed; the one in use first. */
  secrets: Buffer[]
  aggregate: string
  takenBy: string
  /** When it was taken, in milliseconds of this process's clock. */
  takenAt: number
  added: number
  /** Null where the chain is at its end. */
  position: string | null
  eventId: string
  payload: string
  attempts: number
  queuedAt: Date
}

/** Takes the chain of a webhook that has waited longest; undefined where none is due, or the webhook is paused. */
export async function takeChain(sql: Sql, webhookId: string): Promise<Taken | undefined> {
  const [takenBy, takenAt] = [randomUUID(), Date.now()]
  const [row] = await sql<Omit<Taken, 'webhookId' | 'takenBy' | 'takenAt'>[]>`
    with taken as (
      update chains set taken_by = ${takenBy}, due_at = now() + make_interval(secs => ${takenFor})
      where (webhook_id, aggregate) = (
        select webhook_id, aggregate from chains
        where webhook_id = ${webhookId} and due_at <= now()
          and exists (select from webhooks where webhook_id = ${webhookId} and active)
        order by due_at limit 1
        for update skip locked
      )
      returning aggregate, added
    )
    select url, aggregate, added, position, event_id as "eventId", payload, attempts, queued_at as "queuedAt",
      array(
        select sealed from webhook_secrets s
        where s.webhook_id = ${webhookId} and (expires_at is null or expires_at > now())
        order by expires_at desc nulls first
      ) as secrets
    from taken
    join webhooks on webhook_id = ${webhookId}
    left join lateral (
      select position, event_id, payload, attempts, queued_at from deliveries d
      where d.webhook_id = ${webhookId} and d.aggregate = taken.aggregate and kind = 'webhook' and state = 'queued'
      order by d.position limit 1
    ) head on true
  `
  return row && { ...row, webhookId, takenBy, takenAt }
}

/** Whether somebody else may have the chain before a try is over. */
export function isLate({ takenAt }: Taken): boolean {
  return Date.now() - takenAt > lateAfter
}

/** What became of a try. */
export interface Settled {
  /** `queued`: it is tried again. */
  state: 'sent' | 'failed' | 'queued'
  error: string
  /** Milliseconds until the chain goes on. */
  delay: number
}

/** Records a try and gives the chain back. Without effect where somebody else has it by now, or the address is another. */
export async function settle(sql: Sql, taken: Taken, { state, error, delay }: Settled): Promise<void> {
  await sql`
    with given as (
      update chains set taken_by = '', due_at = now() + make_interval(secs => ${delay / 1000})
      where webhook_id = ${taken.webhookId} and aggregate = ${taken.aggregate} and taken_by = ${taken.takenBy}
        and not exists (select from webhooks where webhook_id = ${taken.webhookId} and url <> ${taken.url})
      returning true
    )
    update deliveries set state = ${state}, error = ${error}, attempts = attempts + 1, changed_at = now()
    where position = ${taken.position} and state = 'queued' and exists (select from given)
  `
}

/** Gives the chain back as it was. */
export async function giveBack(sql: Sql, { webhookId, aggregate, takenBy }: Taken): Promise<void> {
  await sql`
    update chains set taken_by = '', due_at = now()
    where webhook_id = ${webhookId} and aggregate = ${aggregate} and taken_by = ${takenBy}
  `
}

/** Removes a chain that is at its end; where something was added meanwhile, gives it back. */
export async function endChain(sql: Sql, taken: Taken): Promise<void> {
  const { webhookId, aggregate, takenBy, added } = taken
  // What was added before the chain was taken may only be seen now; what is added meanwhile changes the number.
  const { count } = await sql`
    delete from chains
    where webhook_id = ${webhookId} and aggregate = ${aggregate} and taken_by = ${takenBy} and added = ${added}
      and not exists (
        select from deliveries d
        where d.webhook_id = ${webhookId} and d.aggregate = ${aggregate} and kind = 'webhook' and state = 'queued'
      )
  `
  if (count === 0) await giveBack(sql, taken)
}
