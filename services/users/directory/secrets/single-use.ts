import { createHash } from 'node:crypto'
import { deleteInPortions } from '#lib/database/delete-in-portions'
import type { UniqueKey } from '#lib/eventstore/command'
import { orUnavailable, readNow, type Sql } from '#lib/database/database'

/** The kinds of unique keys that are used up. */
export const singleUseKinds = [
  'assertion',
  'dpop_proof',
  'passkey_challenge',
  'provider_answer',
  'idp_intent',
  'domain_mail',
] as const

/**
 * The unique key of a thing that may be used once until its end, in Unix seconds. Its scope is the end in ten digits,
 * so that pruning finds old keys.
 */
export function singleUse(kind: (typeof singleUseKinds)[number], id: string, end: number): UniqueKey {
  return {
    kind,
    scope: String(Math.ceil(end)).padStart(10, '0'),
    key: createHash('sha256').update(id).digest('base64'),
  }
}

/**
 * Uses a key up without storing anything else; false where it was used before, or where its end is long past, since it
 * may be deleted then. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function useUp(sql: Sql, { kind, scope, key }: UniqueKey): Promise<boolean> {
  const used = await orUnavailable(sql`
    insert into unique_keys (kind, scope, key, aggregate_id)
    select ${kind}, ${scope}, ${key}, '' where ${Number(scope)}::float8 > extract(epoch from roster_now()) - ${margin}
    on conflict do nothing
    returning key
  `)
  return used.length > 0
}

/** Seconds. The clocks of gateways may be wrong. */
const margin = 60

/** Deletes keys whose end is past, with twice the margin: none that `useUp` still takes. */
export async function deleteUsed(sql: Sql): Promise<void> {
  const over = String(Math.floor((await readNow(sql)).getTime() / 1000) - 2 * margin).padStart(10, '0')
  for (const kind of singleUseKinds) await deleteInPortions(sql, 'unique_keys', sql`kind = ${kind} and scope < ${over}`)
}
