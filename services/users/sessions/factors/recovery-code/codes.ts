import { createHmac, type KeyObject, randomBytes } from 'node:crypto'
import { orUnavailable, type Write } from '#lib/database/database'
import type { RosterError } from '#lib/errors'
import type { Guard } from '#lib/eventstore/command'
import type { Context } from '../../../context.ts'
import { derivedKey, personalKey } from '../../../directory/secrets/personal-key.ts'

// 32 symbols, five bits each. No symbol looks like another.
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
/** Of a user at a time. */
const number = 10

/** New codes, each of eighty random bits, as people read them. */
export function newCodes(): string[] {
  return Array.from({ length: number }, () =>
    Array.from(randomBytes(16), (byte) => alphabet[byte & 31])
      .join('')
      .replace(/.{4}(?=.)/g, '$&-'),
  )
}

/** Keeps codes in place of those before, beside an event. Undefined where the user is erased. */
export async function keepingCodes(
  context: Pick<Context, 'sql' | 'personal'>,
  userId: string,
  codes: string[],
): Promise<Write[] | undefined> {
  const key = await personalKey(context, userId)
  if (!key) return undefined
  const rows = codes.map((code) => ({ user_id: userId, mac: macOf(key, code) }))
  return [withoutCodes(userId), (sql) => sql`insert into recovery_codes ${sql(rows)}`]
}

export function withoutCodes(userId: string): Write {
  return (sql) => sql`delete from recovery_codes where user_id = ${userId}`
}

/** How many codes can still be used. UNAVAILABLE STORE_UNAVAILABLE. */
export async function countCodes({ sql }: Pick<Context, 'sql'>, userId: string): Promise<number> {
  const [row] = await orUnavailable(sql<[{ left: number }]>`
    select count(*)::int as left from recovery_codes where user_id = ${userId}
  `)
  return row.left
}

/** The MAC of a typed code that can still be used. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findTypedCode(
  context: Pick<Context, 'sql' | 'personal'>,
  userId: string,
  typed: string,
): Promise<Buffer | undefined> {
  const key = await personalKey(context, userId)
  const mac = key && macOf(key, typed)
  const rows =
    mac &&
    (await orUnavailable(context.sql`
    select from recovery_codes where user_id = ${userId} and mac = ${mac}
  `))
  return rows?.length ? mac : undefined
}

/** Uses a code up beside an event, once. Otherwise the caller gets `lost`. */
export function usingUpRecoveryCode(userId: string, mac: Buffer, lost: RosterError): { write: Write; guard: Guard } {
  const hex = mac.toString('hex')
  return {
    write: (sql) => sql`delete from recovery_codes where user_id = ${userId} and mac = ${mac}`,
    guard: {
      key: JSON.stringify(['recovery-code', userId, hex]),
      counted: { by: 'count_lost_recovery_codes', of: { userId, mac: hex } },
      most: 1,
      full: lost,
    },
  }
}

function macOf(key: KeyObject, code: string): Buffer {
  const plain = code.replace(/[\s-]/g, '').toUpperCase()
  return createHmac('sha256', derivedKey(key, 'recovery-code')).update(plain).digest()
}
