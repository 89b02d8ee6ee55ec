import type { Refusal } from '#gen/roster/grants/v1/internal_service'
import { deleteInPortions } from '#lib/database/delete-in-portions'
import { RosterError } from '#lib/errors'
import { orUnavailable, type Sql } from '#lib/database/database'
import type { Log } from '#lib/log'

/** Refused calls that are kept of one user. Only its own further calls push them out. */
const mostOfUser = 100
const pruneEvery = 60_000

/** Keeps refused calls. A call with the request id of an earlier one takes its place. */
export async function keepRefusals(sql: Sql, refusals: Refusal[]): Promise<void> {
  const rows = JSON.stringify(refusals)
  await orUnavailable(sql`
    insert into refused_calls (user_id, organization_id, request_id, method, project_id, refused_at)
    select distinct on ("userId", "organizationId", "requestId")
      "userId", "organizationId", "requestId", method, "projectId", least(time, roster_now())
    from jsonb_to_recordset(${rows}::text::jsonb) as r (
      "userId" text, "organizationId" text, "requestId" text, method text, "projectId" text, time timestamptz
    )
    order by "userId", "organizationId", "requestId", time desc
    on conflict (user_id, organization_id, request_id) do update
    set method = excluded.method, project_id = excluded.project_id, refused_at = excluded.refused_at
  `)
  await orUnavailable(sql`
    delete from refused_calls r
    using unnest(${[...new Set(refusals.map(({ userId }) => userId))]}::text[]) u (id)
    where r.user_id = u.id and r.refused_at < (
      select newest.refused_at from refused_calls newest
      where newest.user_id = u.id order by newest.refused_at desc offset ${mostOfUser - 1} limit 1
    )
  `)
}

/** The refused call of a user that acted in an organization, or anywhere. NOT_FOUND REFUSAL_NOT_FOUND. */
export async function findRefusal(
  sql: Sql,
  userId: string,
  requestId: string,
  organizationId: string | undefined,
): Promise<Refusal> {
  const [found] = await orUnavailable(sql<Refusal[]>`
    select user_id as "userId", organization_id as "organizationId", request_id as "requestId", method,
      project_id as "projectId", refused_at as time
    from refused_calls
    where user_id = ${userId} and request_id = ${requestId} and refused_at > roster_now() - interval '1 hour'
      ${organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`}
    order by refused_at desc limit 1
  `)
  if (!found) throw new RosterError('NOT_FOUND', 'REFUSAL_NOT_FOUND', 'No such call was refused within the last hour.')
  return found
}

/** Removes calls that were refused more than an hour ago. */
export function startPruningRefusals(sql: Sql, log: Log): { stop(): void } {
  const prune = () => deleteInPortions(sql, 'refused_calls', sql`refused_at < roster_now() - interval '1 hour'`)
  const warn = (error: unknown) => log.warn({ err: error }, 'pruning failed')
  const timer = setInterval(() => void prune().catch(warn), pruneEvery)
  return { stop: () => clearInterval(timer) }
}
