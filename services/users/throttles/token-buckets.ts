import { deleteInPortions } from '#lib/eventstore/delete-in-portions'
import { orUnavailable, type Sql } from '#lib/eventstore/database'
import type { Keyring } from '#lib/keys'

/** How often something may happen: `most` times at once, and each further time after a pause. */
export interface Limit {
  /** A name in hex. */
  key: string
  most: number
  /** Seconds. */
  pause: number
  /** `meter`: stops nobody. `metered`: applies while a meter among the limits is exceeded. */
  kind: 'always' | 'meter' | 'metered'
}

/** A limit with a readable name. */
export type NamedLimit = Omit<Limit, 'key'> & { name: string[] }

/** The limits with their names as MACs, so that the database shows neither names nor addresses. */
export function limitsFor(keys: Keyring, named: NamedLimit[]): Limit[] {
  return named.map(({ name, ...limit }) => ({ ...limit, key: keys.mac('turns', keys.currentId, name).toString('hex') }))
}

/** The /48 of an IPv6 address. The holder of a /48 has 65,536 of the networks that count as one address each. */
export function networkOf(address: string): string | undefined {
  return address.includes(':') ? address.split(':', 3).join(':') : undefined
}

/**
 * Takes a turn under every limit before the work is done, so that simultaneous turns count too. Returns undefined; or
 * the seconds to wait, where nothing was taken. Replicas share the turns. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function takeTurns(sql: Sql, limits: Limit[]): Promise<number | undefined> {
  const [row] = await orUnavailable(sql<[{ wait: number | null }]>`
    select take_turns(${JSON.stringify(limits)}::text::jsonb) as wait
  `)
  return row.wait ? Math.max(1, Math.ceil(row.wait)) : undefined
}

/** Gives back a turn under every limit, because the work succeeded or was not done. UNAVAILABLE STORE_UNAVAILABLE. */
export async function giveTurnsBack(sql: Sql, limits: Limit[]): Promise<void> {
  // Locks rows in the order in which they are taken, so that two transactions cannot wait for each other.
  await orUnavailable(sql`
    update turns t set paid_until = t.paid_until - make_interval(secs => locked.pause)
    from (
      select key, l.pause from turns join (
        select decode(key, 'hex') as key, pause
        from jsonb_to_recordset(${JSON.stringify(limits)}::text::jsonb) as l (key text, pause float8)
      ) l using (key)
      order by key
      for update of turns
    ) locked
    where t.key = locked.key
  `)
}

/** Forgets turns that no longer delay anybody. */
export async function forgetTurns(sql: Sql): Promise<void> {
  await deleteInPortions(sql, 'turns', sql`paid_until < roster_now()`)
}
