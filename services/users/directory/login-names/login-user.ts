import { orUnavailable } from '#lib/database/database'
import { subjectKeyOf } from '#lib/encryption/personal'
import type { StoredState } from '#lib/encryption/encrypted-fields'
import type { Context } from '../../context.ts'
import type { KnownAddress } from '../rate-limits/known-addresses.ts'
import type { User } from '../events/user.ts'

export interface LoginUser {
  userId: string
  organizationId: string
  state: User
  /** Null for a machine, and for a human without a password. */
  hash: string | null
  known: KnownAddress[]
}

/** A user by its id. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findUserById(
  { sql, personal }: Pick<Context, 'sql' | 'personal'>,
  userId: string,
): Promise<LoginUser | undefined> {
  const rows = await orUnavailable(sql<Row[]>`
    select ${facts(sql)} from aggregates u left join passwords p on p.user_id = u.id collate "default"
    where u.type = 'user' and u.id = ${userId}
  `)
  return decryptUsers(personal, rows)[0]
}

/** The facts of a user as they are stored. */
export type Row = Omit<LoginUser, 'state'> & Omit<StoredState, 'type' | 'id'>

/** Decrypts facts. Leaves out users that no key decrypts, where `failed` does not throw. */
export function decryptUsers(personal: Context['personal'], rows: Row[], failed = rethrow): LoginUser[] {
  return rows.flatMap(({ sequence, key, ...row }) => {
    try {
      const state = personal.decryptState({ type: 'user', id: row.userId, sequence, state: row.state, key })
      return state === undefined ? [] : [{ ...row, state: state as User }]
    } catch (error) {
      failed(error, row.userId)
      return []
    }
  })
}

function rethrow(error: unknown, _userId: string): void {
  throw error
}

/**
 * Selects the facts of the user `u` with the password `p`. State and hash come from one statement, so that they belong
 * together. The ids of aggregates are in another order than the indexes of these tables.
 */
export function facts(sql: Context['sql']) {
  return sql`
    u.id as "userId", u.organization_id as "organizationId", u.state, u.sequence,
    ${subjectKeyOf(sql, sql`u.id`)} as key, p.hash, (
      select coalesce(
        json_agg(json_build_object(
          'keyId', key_id, 'address', encode(address, 'hex'), 'isFresh', used_at > roster_now() - interval '1 day'
        )), '[]'
      )
      from known_addresses a where a.user_id = u.id collate "default"
    ) as known
  `
}
