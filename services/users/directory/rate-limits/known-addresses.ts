import { timingSafeEqual } from 'node:crypto'
import { deleteInPortions } from '#lib/database/delete-in-portions'
import { orUnavailable, type Sql } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import type { Context } from '../../context.ts'

/** Addresses remembered of a user, at most. */
const most = 10

/** An address that a user signed in from, as it is stored. */
export interface KnownAddress {
  keyId: string
  /** In hex. */
  address: string
  /** Whether it was used within a day. */
  isFresh: boolean
}

/** The entry among a user's addresses that is this address. */
export function findKnown(
  keys: Keyring,
  known: KnownAddress[],
  userId: string,
  address: string,
): KnownAddress | undefined {
  return known.find((entry) => {
    const mac = macOf(keys, entry.keyId, userId, address)
    return mac !== undefined && timingSafeEqual(mac, Buffer.from(entry.address, 'hex'))
  })
}

/**
 * Remembers that a user signed in from an address. The last ten are kept. A removal beside it deletes the password
 * first, and waits for this lock, or this finds nothing.
 */
export async function rememberAddress(
  { sql, keys }: Pick<Context, 'sql' | 'keys'>,
  userId: string,
  address: string,
  known: KnownAddress | undefined,
): Promise<void> {
  if (known?.keyId === keys.currentId && known.isFresh) return
  const mac = macOf(keys, keys.currentId, userId, address)!
  await orUnavailable(sql`
    with renewed as (
      insert into known_addresses (user_id, address, key_id, used_at)
      select user_id, ${mac}, ${keys.currentId}, roster_now() from passwords where user_id = ${userId} for key share
      on conflict (user_id, address) do update set used_at = excluded.used_at
    )
    delete from known_addresses
    where user_id = ${userId} and address <> ${mac} and address not in (
      select address from known_addresses where user_id = ${userId} and address <> ${mac}
      order by used_at desc limit ${most - 1}
    )
  `)
}

/** Deletes addresses that were not used for half a year. */
export async function deleteAddresses(sql: Sql): Promise<void> {
  await deleteInPortions(sql, 'known_addresses', sql`used_at < roster_now() - interval '180 days'`)
}

// If the key of an entry is gone, treat its address as one that was never seen.
function macOf(keys: Keyring, keyId: string, userId: string, address: string): Buffer | undefined {
  try {
    return keys.mac('known-address', keyId, [userId, address])
  } catch {
    return undefined
  }
}
