import { createHash } from 'node:crypto'
import type { UniqueKey } from '#lib/eventstore/command'
import { orUnavailable, type Sql } from '#lib/eventstore/database'

const kinds = ['assertion', 'dpop_proof'] as const

/**
 * The unique key of what may be used once until its end, which is Unix time in seconds: the key's scope, in ten digits, so that
 * what is over is found.
 */
export function singleUse(kind: (typeof kinds)[number], id: string, end: number): UniqueKey {
  return {
    kind,
    scope: String(Math.ceil(end)).padStart(10, '0'),
    key: createHash('sha256').update(id).digest('base64'),
  }
}

/** Uses it up where nothing is stored with it; false where it was used before. UNAVAILABLE STORE_UNAVAILABLE. */
export async function useUp(sql: Sql, { kind, scope, key }: UniqueKey): Promise<boolean> {
  const used = await orUnavailable(sql`
    insert into unique_keys (kind, scope, key, aggregate_id) values (${kind}, ${scope}, ${key}, '')
    on conflict do nothing
    returning key
  `)
  return used.length > 0
}

/** Forgets what is over, whatever the clocks of replicas say. */
export async function forgetUsed(sql: Sql): Promise<void> {
  const over = String(Math.floor(Date.now() / 1000) - 120).padStart(10, '0')
  for (const kind of kinds) await sql`delete from unique_keys where kind = ${kind} and scope < ${over}`
}
