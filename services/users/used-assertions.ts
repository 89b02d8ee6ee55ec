import { orUnavailable, type Sql } from '#lib/eventstore/database'
import { assertionKind } from './assertion.ts'
import type { Client } from './client-authentication.ts'

/** Uses up a client's assertion where nothing is stored with it. The client fails where it was used before. */
export async function useOnce(sql: Sql, { machine, once, fail }: Client): Promise<void> {
  if (!once) return
  const used = await orUnavailable(sql`
    insert into unique_keys (kind, scope, key, aggregate_id)
    values (${once.kind}, ${once.scope}, ${once.key}, ${machine.id})
    on conflict do nothing
    returning key
  `)
  if (used.length === 0) await fail('replayed')
}

/** Forgets the assertions that are over. */
export async function forgetAssertions(sql: Sql): Promise<void> {
  const over = String(Math.floor(Date.now() / 1000) - 120).padStart(10, '0')
  await sql`delete from unique_keys where kind = ${assertionKind} and scope < ${over}`
}
