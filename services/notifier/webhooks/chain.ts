import type { Sql } from '#lib/eventstore/database'

/** Seconds, beyond those of a try, after which somebody else may go on with a chain that was taken. */
const takenBeyond = 15
/** Milliseconds after which whoever took it begins no more: a try ends a second after its time at the latest. */
const lateAfter = 10_000
/** Places that one organization has at most, of all notifiers; those for its webhooks that are not quick; and one webhook. */
const ofOrganization = 16
const ofOrganizationSlow = 2
const ofWebhook = 4
/** Seconds for which an organization has one place for its quick webhooks, after one of these was not. */
const heldFor = 600

/** The head of a chain, taken by this process alone. */
export interface Taken {
  webhookId: string
  /** Whose the webhook is. */
  organizationId: string
  url: string
  /** Sealed; the one in use first. */
  secrets: Buffer[]
  aggregate: string
  takenBy: string
  /** When it was taken, in milliseconds of this process's clock. */
  takenAt: number
  added: number
  /** How often the webhook did not answer in time, one after the other. */
  timeouts: number
  /** Whether the webhook was not quick before. */
  slow: boolean
  /** Null where the chain is at its end. */
  position: string | null
  eventId: string
  payload: string
  attempts: number
  queuedAt: Date
}

export interface Room {
  /** Chains to take at most. */
  most: number
  /** Of these, to webhooks that are not quick. */
  mostSlow: number
  /** Milliseconds that a try may last. */
  within: number
}

/** Takes what is due to some webhooks, in turns by organization. Also gives the webhooks to which more is due than may be sent now. */
export async function takeChains(
  sql: Sql,
  webhookIds: string[],
  { most, mostSlow, within }: Room,
): Promise<{ taken: Taken[]; waiting: Pick<Taken, 'webhookId' | 'organizationId'>[] }> {
  const takenAt = Date.now()
  const rows = await sql<(Omit<Taken, 'takenAt' | 'aggregate'> & { aggregate: string | null })[]>`
    select webhook_id as "webhookId", organization_id as "organizationId", url, secrets, aggregate, taken_by as "takenBy", added, timeouts, slow, position,
      event_id as "eventId", payload, attempts, queued_at as "queuedAt"
    from take_chains(
      ${webhookIds}, ${most}, ${mostSlow}, ${ofOrganization}, ${ofOrganizationSlow}, ${ofWebhook}, ${within / 1000 + takenBeyond}
    )
  `
  return {
    taken: rows.flatMap(({ aggregate, ...row }) => (aggregate === null ? [] : [{ ...row, aggregate, takenAt }])),
    waiting: rows.filter(({ aggregate }) => aggregate === null),
  }
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
  /** Whether the receiver was quick, however it answered. */
  quick: boolean
  /** Milliseconds until the webhook is tried again, whatever is due to it: it did not answer in time. */
  rest?: number | undefined
}

/** Records a try and gives the chain back. Without effect where somebody else has it by now, or the address is another. */
export async function settle(sql: Sql, taken: Taken, { state, error, delay, quick, rest }: Settled): Promise<void> {
  const { webhookId, aggregate, takenBy, url, position } = taken
  const timeouts = rest === undefined ? 0 : taken.timeouts + 1
  await sql`
    with given as (
      update chains set taken_by = '', due_at = now() + make_interval(secs => ${delay / 1000})
      where webhook_id = ${webhookId} and aggregate = ${aggregate} and taken_by = ${takenBy}
        and not exists (select from webhooks where webhook_id = ${webhookId} and url <> ${url})
      returning true
    ), freed as (
      delete from places where place_id = ${takenBy} returning organization_id, slow
    ), held as (
      update turns t set held_until = now() + make_interval(secs => ${heldFor})
      from freed where t.organization_id = freed.organization_id and not freed.slow and not ${quick}
    ), answered as (
      update webhooks set quick = ${quick}, timeouts = ${timeouts}, retry_at = now() + make_interval(secs => ${rest === undefined ? null : rest / 1000}::float8)
      where webhook_id = ${webhookId} and url = ${url} and exists (select from given)
        and (quick, timeouts) is distinct from (${quick}, ${timeouts})
    )
    update deliveries set state = ${state}, error = ${error}, attempts = attempts + 1, changed_at = now()
    where position = ${position} and state = 'queued' and exists (select from given)
  `
}

/** Gives the chain back as it was. */
export async function giveBack(sql: Sql, { webhookId, aggregate, takenBy }: Taken): Promise<void> {
  await sql`
    with freed as (delete from places where place_id = ${takenBy})
    update chains set taken_by = '', due_at = now()
    where webhook_id = ${webhookId} and aggregate = ${aggregate} and taken_by = ${takenBy}
  `
}

/** Removes a chain that is at its end; where something was added meanwhile, gives it back. */
export async function endChain(sql: Sql, taken: Taken): Promise<void> {
  const { webhookId, aggregate, takenBy, added } = taken
  // What was added before the chain was taken may only be seen now; what is added meanwhile changes the number.
  const { count } = await sql`
    with freed as (delete from places where place_id = ${takenBy})
    delete from chains
    where webhook_id = ${webhookId} and aggregate = ${aggregate} and taken_by = ${takenBy} and added = ${added}
      and not exists (
        select from deliveries d
        where d.webhook_id = ${webhookId} and d.aggregate = ${aggregate} and kind = 'webhook' and state = 'queued'
      )
  `
  if (count === 0) await giveBack(sql, taken)
}
