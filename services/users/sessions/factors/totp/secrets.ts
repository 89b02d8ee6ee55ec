import { decryptJson, encryptJson } from '#lib/encryption/encrypted-text'
import { orUnavailable, type Write } from '#lib/database/database'
import type { RosterError } from '#lib/errors'
import type { Guard } from '#lib/eventstore/command'
import type { Context } from '../../../context.ts'
import { personalKey } from '../../../directory/secrets/personal-key.ts'

/** The secret of a user's authenticator app, and the time of the database. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findTotpSecret(
  context: Pick<Context, 'sql' | 'personal'>,
  userId: string,
): Promise<{ secret: Buffer; lastStep: number; now: Date } | undefined> {
  const [key, [row]] = await Promise.all([
    personalKey(context, userId),
    orUnavailable(context.sql<{ secret: string; lastStep: string; now: Date }[]>`
      select secret, last_step as "lastStep", roster_now() as now from totp_secrets where user_id = ${userId}
    `),
  ])
  if (!key || !row) return undefined
  const secret = decryptJson(key, row.secret, placeOf(userId)) as string
  return { secret: Buffer.from(secret, 'base64'), lastStep: Number(row.lastStep), now: row.now }
}

/** Keeps a secret beside an event. `step`: of the code that confirmed it. Undefined where the user is erased. */
export async function keepingTotpSecret(
  context: Pick<Context, 'sql' | 'personal'>,
  { userId, secret, step }: { userId: string; secret: Buffer; step: number },
): Promise<Write | undefined> {
  const key = await personalKey(context, userId)
  if (!key) return undefined
  const encrypted = encryptJson(key, secret.toString('base64'), placeOf(userId))
  return (sql) => sql`
    insert into totp_secrets (user_id, secret, last_step) values (${userId}, ${encrypted}, ${step})
    on conflict (user_id) do update set secret = excluded.secret, last_step = excluded.last_step
  `
}

export function withoutTotpSecret(userId: string): Write {
  return (sql) => sql`delete from totp_secrets where user_id = ${userId}`
}

/** Uses a time step up beside an event, once. Otherwise the caller gets `lost`. */
export function usingUpStep(userId: string, step: number, lost: RosterError): { write: Write; guard: Guard } {
  return {
    write: (sql) => sql`update totp_secrets set last_step = ${step} where user_id = ${userId} and last_step < ${step}`,
    guard: {
      key: JSON.stringify(['totp-step', userId]),
      counted: { by: 'count_used_totp_steps', of: { userId, step } },
      most: 1,
      full: lost,
    },
  }
}

// A row of one person is good for no other.
function placeOf(userId: string): string {
  return `totp/${userId}`
}
