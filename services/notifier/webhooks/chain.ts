import type { Sql } from '#lib/database/database'

/** Seconds beyond a try's time after which another worker may take over a chain. */
const takenBeyond = 15
/**
 * Milliseconds after which a worker may no longer begin a try of a chain that it took. A try ends a second after its
 * time at the latest.
 */
const lateAfter = 10_000
/** The most places over all notifiers: of an organization, of its webhooks that are not quick, and of one webhook. */
const ofOrganization = 16
const ofOrganizationSlow = 2
const ofWebhook = 4
/** Seconds for which an organization has only one place for its quick webhooks, after one of them was slow. */
const heldFor = 600

/** A chain that this process alone has taken, with its first delivery. A place may have several. */
export interface Taken {
  webhookId: string
  /** The organization that has the webhook. */
  organizationId: string
  url: string
  /** Encrypted. The one in use comes first. */
  secrets: Buffer[]
  aggregate: string
  /** The place. */
  takenBy: string
  /** When this process took it, in milliseconds of its clock. */
  takenAt: number
  /** PostgreSQL's time of that. */
  now: Date
  added: number
  /** The webhook's timeouts in a row. */
  timeouts: number
  /** Whether the webhook was not quick before. */
  slow: boolean
  /** Null: the chain is at its end. */
  position: string | null
  eventId: string
  payload: string
  attempts: number
  queuedAt: Date
  /** Since when the chain was due. */
  dueAt: Date
}

export interface Room {
  /** The most places to take. */
  most: number
  /** How many of these may lead to webhooks that are not quick. */
  mostSlow: number
  /** Milliseconds that a try may last. */
  within: number
}

/**
 * Takes due chains of these webhooks, organizations round robin: at most so many in each place as the map says. Also
 * returns the webhooks that must wait for a place.
 */
export async function takeChains(
  sql: Sql,
  webhooks: Map<string, number>,
  { most, mostSlow, within }: Room,
): Promise<{ taken: Taken[]; waiting: Pick<Taken, 'webhookId' | 'organizationId'>[] }> {
  const takenAt = Date.now()
  const rows = await sql<(Omit<Taken, 'takenAt' | 'aggregate'> & { aggregate: string | null })[]>`
    select webhook_id as "webhookId", organization_id as "organizationId", url, secrets, aggregate,
      taken_by as "takenBy", added, timeouts, slow, position, event_id as "eventId", payload, attempts,
      queued_at as "queuedAt", due_at as "dueAt", roster_now() as now
    from take_batches(
      ${[...webhooks.keys()]}, ${[...webhooks.values()]}::int[], ${most}, ${mostSlow}, ${ofOrganization}, ${ofOrganizationSlow}, ${ofWebhook},
      ${within / 1000 + takenBeyond}
    )
  `
  return {
    taken: rows.flatMap(({ aggregate, ...row }) => (aggregate === null ? [] : [{ ...row, aggregate, takenAt }])),
    waiting: rows.filter(({ aggregate }) => aggregate === null),
  }
}

/** Whether another worker may take the chain before a try would be over. */
export function isLate({ takenAt }: Taken): boolean {
  return Date.now() - takenAt > lateAfter
}

/** The outcome of a try. */
export interface Settled {
  /** `queued`: there will be another try. */
  state: 'sent' | 'failed' | 'queued'
  error: string
  /** Milliseconds until the chain goes on. */
  delay: number
  /** Whether the receiver was quick, however it answered. */
  quick: boolean
  /** Set after a timeout: milliseconds until the webhook's next try, for all that is due to it. */
  rest?: number | undefined
}

/**
 * Records a try and gives the chain back, or ends it where nothing follows. Has no effect if another worker has the
 * chain, or the webhook a new address. `frees`: this was the last try of the place.
 */
export async function settle(sql: Sql, taken: Taken, settled: Settled, frees: boolean): Promise<void> {
  const { webhookId, aggregate, takenBy, url, position } = taken
  const { state, error, delay, quick, rest } = settled
  const timeouts = rest === undefined ? 0 : taken.timeouts + 1
  await sql`
    select settle_try(
      ${webhookId}, ${aggregate}, ${takenBy}, ${url}, ${position}, ${state}, ${error}, ${delay / 1000}, ${quick},
      ${timeouts}, ${rest === undefined ? null : rest / 1000}, ${frees}, ${heldFor}
    )
  `
}

/** Gives chains of a place back without recording a try. They keep their turn. */
export async function giveBack(sql: Sql, chains: Taken[], frees: boolean): Promise<void> {
  const [first] = chains
  if (!first) return
  await sql`
    with freed as (
      delete from places where place_id = ${first.takenBy} and ${frees}
    ), mine as (
      -- In the order of \`take_in\`, so that the two cannot wait for each other.
      select c.aggregate, g.due_at from chains c
      join unnest(
        ${chains.map(({ aggregate }) => aggregate)}::text[],
        ${chains.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[]
      ) as g (aggregate, due_at) on g.aggregate = c.aggregate
      where c.webhook_id = ${first.webhookId} and c.taken_by = ${first.takenBy}
      order by c.aggregate for update of c
    )
    update chains c set taken_by = '', due_at = mine.due_at
    from mine where c.webhook_id = ${first.webhookId} and c.aggregate = mine.aggregate
  `
}

/** Frees the place of a chain. */
export async function freePlace(sql: Sql, { takenBy }: Taken): Promise<void> {
  await sql`delete from places where place_id = ${takenBy}`
}

/** Removes a chain that is at its end. Gives it back if something was added meanwhile. */
export async function endChain(sql: Sql, taken: Taken, frees: boolean): Promise<void> {
  const { webhookId, aggregate, takenBy, added } = taken
  // An event added before the chain was taken may be visible only now: look again. One added since changes the number.
  const { count } = await sql`
    with freed as (delete from places where place_id = ${takenBy} and ${frees})
    delete from chains
    where webhook_id = ${webhookId} and aggregate = ${aggregate} and taken_by = ${takenBy} and added = ${added}
      and not exists (select from head_of_chain(${webhookId}, ${aggregate}))
  `
  if (count === 0) await giveBack(sql, [taken], frees)
}
