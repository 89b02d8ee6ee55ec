import { orUnavailable, type Sql } from '#lib/eventstore/database'
import type { Keyring } from '#lib/keys'

/** How often something may be done: so many times at once, and each further time after a pause. */
export interface Limit {
  /** A name in hex. */
  key: string
  most: number
  /** Seconds. */
  pause: number
  /** `meter`: stops nobody. `metered`: holds while a meter among the limits is over. */
  kind: 'always' | 'meter' | 'metered'
}

/** A limit whose name is yet to be made unreadable. */
export type NamedLimit = Omit<Limit, 'key'> & { name: string[] }

/** The limits as they are counted: neither names nor addresses can be read in the database. */
export function limitsFor(keys: Keyring, named: NamedLimit[]): Limit[] {
  return named.map(({ name, ...limit }) => ({ ...limit, key: keys.mac('turns', keys.currentId, name).toString('hex') }))
}

/** The /48 of an address of IPv6: whoever is given one has 65,536 of the networks that count as an address. */
export function networkOf(address: string): string | undefined {
  return address.includes(':') ? address.split(':', 3).join(':') : undefined
}

/**
 * Takes a turn under every limit, before what it is for is done, so that turns at one time count too. Gives undefined, or, where
 * nothing was taken, the seconds to wait. Replicas share the turns. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function takeTurns(sql: Sql, limits: Limit[]): Promise<number | undefined> {
  const [row] = await orUnavailable(sql<[{ wait: number | null }]>`
    select take_turns(${JSON.stringify(limits)}::text::jsonb) as wait
  `)
  return row.wait ? Math.max(1, Math.ceil(row.wait)) : undefined
}

/** Gives back a turn under every limit: what it was for succeeded, or was not done. UNAVAILABLE STORE_UNAVAILABLE. */
export async function giveTurnsBack(sql: Sql, limits: Limit[]): Promise<void> {
  // In the order of the keys, as they are taken, so that two cannot wait for each other.
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

/** Forgets turns that hold nobody up any more. */
export async function forgetTurns(sql: Sql): Promise<void> {
  await sql`delete from turns where paid_until < now()`
}
