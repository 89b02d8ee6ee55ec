import { deleteInPortions } from '#lib/database/delete-in-portions'
import { orUnavailable, type Sql } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import { rowsFor } from '../../row-function.ts'

/**
 * A rate limit, as a token bucket: it holds `most` tokens at the most, and gets one back after each pause. The table
 * `turns` has a row for each bucket that is not full.
 */
export interface RateLimit {
  /** A name in hex. */
  key: string
  most: number
  /** Seconds. */
  pause: number
  /** `meter`: stops no one. `metered`: applies while a meter among the limits is exceeded. */
  kind: 'always' | 'meter' | 'metered'
  /** Whom it concerns, in hex: their limits are found by it. */
  owner?: string | undefined
}

/** A rate limit with a readable name. */
export type NamedRateLimit = Omit<RateLimit, 'key' | 'owner'> & { name: string[]; owner?: string[] | undefined }

/** The limits with their names as MACs, so that the database shows neither names nor addresses. */
export function rateLimitsFor(keys: Keyring, named: NamedRateLimit[]): RateLimit[] {
  return named.map(({ name, owner, ...limit }) => ({
    ...limit,
    key: macOf(keys, name),
    ...(owner && { owner: macOf(keys, ['owner', ...owner]) }),
  }))
}

function macOf(keys: Keyring, name: string[]): string {
  return keys.mac('turns', keys.currentId, name).toString('hex')
}

/** The latest end of all waits under the limits of these owners. Nothing is taken. UNAVAILABLE STORE_UNAVAILABLE. */
export async function endOfWaits(
  { sql, keys }: { sql: Sql; keys: Keyring },
  owners: string[][],
): Promise<Date | undefined> {
  const macs = owners.map((owner) => macOf(keys, ['owner', ...owner]))
  const [row] = await orUnavailable(sql<{ until: Date | null }[]>`
    select max(paid_until - make_interval(secs => spare)) as until from turns
    where owner = any(array(select decode(mac, 'hex') from unnest(${macs}::text[]) as m (mac))) and paid_until - make_interval(secs => spare) > roster_moment()
  `)
  return row?.until ?? undefined
}

/** Whether a limit has no token now. Nothing is taken. UNAVAILABLE STORE_UNAVAILABLE. */
export async function isUsedUp({ sql, keys }: { sql: Sql; keys: Keyring }, named: NamedRateLimit): Promise<boolean> {
  const [row] = await orUnavailable(sql<[{ wait: number | null }]>`
    select turns_wait(${JSON.stringify(rateLimitsFor(keys, [{ ...named, kind: 'always' }]))}::text::jsonb) as wait
  `)
  return (row.wait ?? 0) > 0
}

/** The /48 of an IPv6 address. The holder of a /48 has 65,536 of the networks that count as one address each. */
export function networkOf(address: string): string | undefined {
  return address.includes(':') ? address.split(':', 3).join(':') : undefined
}

/**
 * Takes a token from the bucket of every limit before the work is done, so that simultaneous work counts too. Returns
 * undefined; or the seconds to wait, where nothing was taken. Replicas share the buckets. UNAVAILABLE
 * STORE_UNAVAILABLE.
 */
export async function takeFromBuckets(sql: Sql, limits: RateLimit[]): Promise<number | undefined> {
  const [row] = await orUnavailable(sql<[{ wait: number | null }]>`
    select take_turns(${JSON.stringify(limits)}::text::jsonb) as wait
  `)
  return row.wait ? Math.max(1, Math.ceil(row.wait)) : undefined
}

/**
 * Returns a token to the bucket of every limit, because the work succeeded or was not done. UNAVAILABLE
 * STORE_UNAVAILABLE.
 */
export async function returnToBuckets(sql: Sql, limits: RateLimit[]): Promise<void> {
  await orUnavailable(sql`select return_turns(${JSON.stringify(limits)}::text::jsonb)`)
}

/** The same beside the events of a transaction. */
export const returningToBuckets = rowsFor<{ limits: RateLimit[] }>('return_taken_turns')

/** Deletes the rows of buckets that are full again. */
export async function deleteFullBuckets(sql: Sql): Promise<void> {
  await deleteInPortions(sql, 'turns', sql`paid_until < roster_now()`)
}
