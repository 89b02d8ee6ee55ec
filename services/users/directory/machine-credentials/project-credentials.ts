import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Write } from '#lib/database/database'
import type { Credential, CredentialKind } from '../events/credentials.ts'
import { credentialsOf, type User } from '../events/user.ts'

/** Milliseconds between the warning and the end of a credential. */
export const warnBefore = 14 * 86_400_000

/**
 * Keeps the tables of credentials in step with a user. A credential that the user no longer has, for any reason, must
 * leave nothing that can sign in. Its secret goes, and so does every token that it is or that was obtained with it.
 */
export function projectCredentials(before: Aggregate<User>, after: Aggregate<User>): Write[] {
  if (credentialsOf(before.state) === credentialsOf(after.state)) return []
  const [was, is] = [byId(before.state), byId(after.state)]
  const gone = [...was.keys()].filter((id) => !is.has(id))
  const settled = [...was.keys()].filter((id) => !is.has(id) || is.get(id)?.warned)
  const coming = [...is].filter(([id, { expiresAt, warned }]) => !was.has(id) && expiresAt !== undefined && !warned)
  const added = [...is.keys()].filter((id) => !was.has(id))
  const writes: Write[] = [
    // Also a row that a late use left.
    (sql) => sql`
      delete from machine_credentials
      where user_id = ${after.id} and not credential_id = any(${[...is.keys()]}::text[])
    `,
  ]
  for (const id of added) {
    const { kind, expiresAt } = is.get(id)!
    writes.push(
      (sql) => sql`
        insert into machine_credentials (credential_id, user_id, organization_id, kind, ends_at)
        values (${id}, ${after.id}, ${after.organizationId}, ${kind}, ${expiresAt ?? null})
        on conflict do nothing
      `,
    )
  }
  for (const [id, { kind, expiresAt }] of coming) {
    const warnAt = new Date(Date.parse(expiresAt!) - warnBefore)
    writes.push(
      (sql) => sql`
        insert into expiring_credentials (credential_id, user_id, kind, warn_at)
        values (${id}, ${after.id}, ${kind}, ${warnAt})
      `,
    )
  }
  if (settled.length > 0)
    writes.push((sql) => sql`delete from expiring_credentials where credential_id = any(${settled}::text[])`)
  if (gone.length > 0)
    writes.push(
      (sql) => sql`delete from machine_secrets where id = any(${gone}::text[])`,
      (sql) => sql`delete from tokens where credential_id = any(${gone}::text[]) and credential_id <> ''`,
    )
  return writes
}

function byId(user: User | undefined): Map<string, Credential & { kind: CredentialKind }> {
  const kinds = Object.entries(credentialsOf(user)) as [CredentialKind, Credential[]][]
  return new Map(kinds.flatMap(([kind, all]) => all.map((credential) => [credential.id, { ...credential, kind }])))
}
