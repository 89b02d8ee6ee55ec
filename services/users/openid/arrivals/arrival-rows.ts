import { deleteInPortions } from '#lib/database/delete-in-portions'
import type { Sql } from '#lib/database/database'
import type { Refusal, Step } from '../../context.ts'

const [mostOfApplication, keptDays] = [1000, 7]

/** A refusal with how often it came, and how many others found no place before it. */
export interface Counted extends Refusal {
  id: string
  count: number
  leftOut: number
}

/** Stores steps, each for the application of its client. */
export async function keepSteps(sql: Sql, steps: { clientId: string; step: Step }[]): Promise<void> {
  if (steps.length === 0) return
  await sql`
    insert into application_steps (application_id, step, at)
    select a.id, s.step, roster_now()
    from unnest(${steps.map(({ clientId }) => clientId)}::text[], ${steps.map(({ step }) => step)}::text[])
      as s (client_id, step)
    join copies a on a.type = 'application' and a.client_id = s.client_id
    order by a.id, s.step
    on conflict (application_id, step) do update set at = excluded.at
  `
}

/** Stores refusals, each for the application of its client: of a client that nobody knows nothing is kept. */
export async function keepRefusals(sql: Sql, refusals: Counted[]): Promise<void> {
  if (refusals.length === 0) return
  const kept = await sql<{ id: string }[]>`
    insert into application_refusals
      (application_id, id, at, cause, parameter, sent, allowed, description, count, left_out)
    select a.id, r.id, roster_now(), r.cause, r.parameter, r.sent, r.allowed, r.description, r.count, r."leftOut"
    from json_to_recordset(${JSON.stringify(refusals)}::text::json) as r (
      "clientId" text, id uuid, cause text, parameter text, sent text, allowed text[], description text,
      count integer, "leftOut" integer
    )
    join copies a on a.type = 'application' and a.client_id = r."clientId"
    order by r.id
    returning application_id as id
  `
  await sql`
    delete from application_refusals r using unnest(${[...new Set(kept.map(({ id }) => id))]}::text[]) as u (id)
    where r.application_id = u.id and r.id <= (
      select o.id from application_refusals o where o.application_id = u.id
      order by o.id desc offset ${mostOfApplication} limit 1
    )
  `
}

/** When what is kept of arrivals is too old to be shown. */
export function tooOld(sql: Sql) {
  return sql`roster_now() - make_interval(days => ${keptDays})`
}

export async function deleteArrivals(sql: Sql): Promise<void> {
  await deleteInPortions(sql, 'application_steps', sql`at <= ${tooOld(sql)}`)
  await deleteInPortions(sql, 'application_refusals', sql`at <= ${tooOld(sql)}`)
}
