import { createHash } from 'node:crypto'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { orUnavailable, type Statement, type Write } from '#lib/database/database'
import type { Guard } from '#lib/eventstore/command'
import type { Context } from '../../../context.ts'
import type { Passkey } from '../../../directory/events/passkeys.ts'
import type { User } from '../../../directory/events/user.ts'
import { refused } from './ceremony.ts'

/** What changes of a passkey without an event. */
export interface PasskeyUse {
  usedAt: Date | null
  signCount: number
  backedUp: boolean
}

/** Whose a credential is, and how it was used last. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findCredential(
  { sql }: Pick<Context, 'sql'>,
  credentialId: string,
): Promise<(PasskeyUse & { userId: string; passkeyId: string }) | undefined> {
  const [row] = await orUnavailable(sql<(Omit<PasskeyUse, 'signCount'> & Whose & { signCount: string })[]>`
    select user_id as "userId", passkey_id as "passkeyId", used_at as "usedAt", sign_count as "signCount",
      backed_up as "backedUp"
    from passkeys where credential_hash = ${hashOf(credentialId)}
  `)
  return row && { ...row, signCount: Number(row.signCount) }
}
type Whose = { userId: string; passkeyId: string }

/** How the passkeys of a user were used last, by their ids. UNAVAILABLE STORE_UNAVAILABLE. */
export async function usesOfPasskeys(
  { sql }: Pick<Context, 'sql'>,
  userId: string,
): Promise<Map<string, { usedAt: Date | null; backedUp: boolean }>> {
  const rows = await orUnavailable(sql<{ passkeyId: string; usedAt: Date | null; backedUp: boolean }[]>`
    select passkey_id as "passkeyId", used_at as "usedAt", backed_up as "backedUp" from passkeys where user_id = ${userId}
  `)
  return new Map(rows.map(({ passkeyId, ...use }) => [passkeyId, use]))
}

/** How many passkeys serve another domain than this, and so serve no more. */
export async function countDeadPasskeys({ sql }: Pick<Context, 'sql'>, rpId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from passkeys where rp_id <> ${rpId}`
  return row!.count
}

/** Whether it goes backwards, which copies of it would do. Where both sides are 0, the authenticator does not count. */
export function goesBack(before: number, now: number): boolean {
  return (before > 0 || now > 0) && now <= before
}

/** Notes a use: of two at once with one counter, one is refused. */
export function useOf(
  { credentialId }: Pick<Passkey, 'credentialId'>,
  { signCount, backedUp }: Pick<PasskeyUse, 'signCount' | 'backedUp'>,
): { write: Statement; guard: Guard } {
  const hash = hashOf(credentialId)
  return {
    write: (sql) => sql`
      update passkeys set used_at = roster_now(), sign_count = ${signCount}, backed_up = ${backedUp}
      where credential_hash = ${hash}
    `,
    guard: {
      key: JSON.stringify(['passkey', hash.toString('hex')]),
      counted: { by: 'count_passkey_setbacks', of: { hash: hash.toString('hex'), signCount } },
      most: 1,
      full: refused('counter'),
    },
  }
}

/** A credential is one person's, for as long as that is not erased or has it removed. */
export function notTaken(credentialId: string): Guard {
  const hash = hashOf(credentialId).toString('hex')
  return {
    key: JSON.stringify(['passkey', hash]),
    counted: { by: 'count_passkeys', of: { hash } },
    most: 1,
    full: refused('exists'),
  }
}

/** The row of a new passkey, with what its authenticator said. */
export function keepPasskey(
  { id, userId, credentialId, rpId, signCount, backedUp }: Pick<Passkey, 'id' | 'credentialId' | 'rpId'> & NewRow,
  now: Date,
): Statement {
  return (sql) => sql`
    insert into passkeys (credential_hash, user_id, passkey_id, rp_id, created_at, sign_count, backed_up)
    values (${hashOf(credentialId)}, ${userId}, ${id}, ${rpId}, ${now}, ${signCount}, ${backedUp})
  `
}
type NewRow = { userId: string; signCount: number; backedUp: boolean }

/** A removed passkey leaves nothing. Those of a user who can be restored stay. */
export function projectPasskeys(before: Aggregate<User>, after: Aggregate<User>): Write[] {
  const [was, is] = [before, after].map(({ state }) => (state?.former ?? state)?.human?.passkeys ?? []) as [
    Passkey[],
    Passkey[],
  ]
  const gone = was === is ? [] : was.filter(({ id }) => !is.some((one) => one.id === id))
  return gone.map(
    ({ credentialId }): Write =>
      (sql) =>
        sql`delete from passkeys where credential_hash = ${hashOf(credentialId)}`,
  )
}

function hashOf(credentialId: string): Buffer {
  return createHash('sha256').update(credentialId).digest()
}
