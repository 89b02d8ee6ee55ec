import type { SignInRecord } from '#gen/roster/users/v1/session_service'
import { type Fragment, orUnavailable, type Sql } from '#lib/database/database'
import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'
import { factorKinds } from '../factors/kinds.ts'
import { readClients, type RecordRow } from './sign-in-records.ts'

const { console } = instance

/** A record with what is known elsewhere. */
export interface ShownRow extends RecordRow {
  isLiving: boolean
  applicationId: string | null
  applicationName: string | null
  /** The provider that proved the person, as the session has it. */
  idpId: string | null
  idpName: string | null
}

/** The columns of a `ShownRow` of the table `r`, with what `shownJoins` joins. */
export function shownColumns(sql: Sql): Fragment {
  return sql`
    r.id, r.at, r.session_id as "sessionId", r.factors, r.partial, r.client,
    coalesce(a.id, case when r.client_id = ${console.clientId} then ${console.id} end) as "applicationId",
    coalesce(a.state ->> 'name', case when r.client_id = ${console.clientId} then ${console.name} end)
      as "applicationName",
    exists (
      select from tokens t where t.session_id = r.session_id and t.session_id <> '' and t.expires_at > roster_now()
    ) as "isLiving",
    p.id as "idpId", (select name from identity_providers where idp_id = p.id) as "idpName"
  `
}

export function shownJoins(sql: Sql): Fragment {
  return sql`
    left join copies a on a.type = 'application' and a.client_id = r.client_id
    left join lateral (
      select factor ->> 'idpId' as id from aggregates s
      cross join jsonb_array_elements(s.state -> 'factors') with ordinality as f (factor, place)
      where 'provider' = any(r.factors) and s.type = 'session' and s.id = r.session_id and factor ->> 'kind' = 'provider'
      order by place desc limit 1
    ) p on true
  `
}

/** Records of people as they are shown. */
export async function showSignIns(context: Context, rows: (ShownRow & { userId: string })[]): Promise<SignInRecord[]> {
  const clients = await readClients(context, rows)
  return rows.map(
    ({ id, at, sessionId, factors, partial, isLiving, applicationId, applicationName, idpId, idpName }, index) => ({
      id,
      signInDate: at,
      factors: factors.map((kind) => factorKinds[kind].method),
      isPartial: partial,
      sessionId,
      isLiving,
      applicationId: applicationId ?? '',
      appId: applicationId ?? '',
      applicationName: applicationName ?? '',
      client: clients[index],
      idpId: idpId ?? '',
      idpName: idpName ?? '',
    }),
  )
}

/** The last sign-in of each of these sessions of a person, by their ids. */
export async function findLastSignIns(
  context: Context,
  userId: string,
  sessionIds: string[],
): Promise<Map<string, SignInRecord>> {
  if (sessionIds.length === 0) return new Map()
  const { sql } = context
  const rows = await orUnavailable(sql<ShownRow[]>`
    select distinct on (r.session_id) ${shownColumns(sql)} from sign_in_records r ${shownJoins(sql)}
    where r.user_id = ${userId} and r.session_id = any(${sessionIds})
    order by r.session_id, r.id desc
  `)
  const records = await showSignIns(
    context,
    rows.map((row) => ({ ...row, userId })),
  )
  return new Map(records.map((record) => [record.sessionId, record]))
}
