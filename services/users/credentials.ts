import { timingSafeEqual } from 'node:crypto'
import { orUnavailable, type Sql, type Write } from '#lib/eventstore/database'
import { hashToken } from './token.ts'
import { type Credential, credentialsOf, living, type MachineKey, type User } from './vocabulary.ts'

/** The key of a machine by its id; undefined where there is none that lives. */
export function findKey(user: User | undefined, keyId: string, now: Date): MachineKey | undefined {
  return living(credentialsOf(user).key, now).find(({ id }) => id === keyId)
}

/**
 * Which living secret of a machine this is; undefined where it is none. The answer takes as long for an unknown user.
 * UNAVAILABLE STORE_UNAVAILABLE without a database.
 */
export async function findSecret(
  sql: Sql,
  user: User | undefined,
  presented: string,
  now: Date,
): Promise<Credential | undefined> {
  const secrets = living(credentialsOf(user).secret, now)
  const ids = secrets.map(({ id }) => id)
  const rows = await orUnavailable(sql<{ id: string; hash: Buffer }[]>`
    select id, hash from machine_secrets where id = any(${ids}::text[])
  `)
  const hash = hashToken(presented)
  const [right] = rows.filter((row) => timingSafeEqual(row.hash, hash))
  return secrets.find(({ id }) => id === right?.id)
}

/** Stores a secret of a machine by its hash alone. */
export function storeSecret(secret: string, row: { id: string; userId: string; expiresAt: Date | null }): Write {
  return (sql) => sql`
    insert into machine_secrets (id, user_id, hash, expires_at)
    values (${row.id}, ${row.userId}, ${hashToken(secret)}, ${row.expiresAt})
  `
}
