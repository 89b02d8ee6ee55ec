import { type Fragment, orUnavailable, type Sql, type Statement } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import type { RosterError } from '#lib/errors'
import type { Guard } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import type { NewCode } from '../events/code.ts'
import { type Bounds, purposes, type PurposesWith } from './purposes.ts'

/** A purpose whose codes are rows of `secrets`. The code itself is stored nowhere: `deriveCode` makes it of these facts. */
export type KeptPurpose = PurposesWith<{ rows: Bounds }>

/** What a code is bound to. It counts for nothing else. */
export interface Binding {
  userId: string
  /** What it is for: the id of a session, or of a request. */
  purpose: string
  /** The only browser that may use it. Without: any may. */
  browserId?: string | undefined
}

/** One code, of whomever it is: only where it was made for this, in this browser. */
export type BoundCode = Omit<Binding, 'userId'> & { codeId: string }

/** Texts that come back with the code. They are stored encrypted. */
export type Detail = Record<string, string>

export interface OneTimeCode<Kind extends KeptPurpose = KeptPurpose> extends Binding {
  kind: Kind
  code: NewCode
  /** How often it was tried, the present try included. */
  tries: number
  detail: Detail
  /** As it is stored. */
  stored: Buffer
}

interface Row {
  id: string
  userId: string
  purpose: string
  browserId: string | null
  expiresAt: Date
  tries: number
  detail: Buffer
}

const encryptedFor = 'secret-detail'

/**
 * Keeps a code of `newCode` in place of the one before it of the same kind, user and purpose. A user has ten of a kind at a
 * time: those that end first make place. Beside a decision that reads the user, none is kept of a removed one.
 */
export function keepCode<Kind extends KeptPurpose>(
  keys: Keyring,
  kind: Kind,
  { code, userId, purpose, browserId, detail = {} }: Binding & { code: NewCode; detail?: Detail },
): Statement {
  const { codeId, keyId, expiresAt } = code
  const stored = keys.encrypt(encryptedFor, JSON.stringify({ keyId, detail }))
  return (sql) => sql`
    select keep_one_time_code(
      ${kind}, ${codeId}, ${userId}, ${purpose}, ${browserId ?? null}, ${expiresAt}, ${stored}, ${purposes[kind].rows.ofUser}
    )
  `
}

/** Makes a code that was kept for nobody the one of a user. The tries that it has had stay counted. */
export function giveCode<Kind extends KeptPurpose>(
  keys: Keyring,
  kind: Kind,
  { code: { codeId, keyId, expiresAt }, userId, detail = {} }: { code: NewCode; userId: string; detail?: Detail },
): Statement {
  const stored = keys.encrypt(encryptedFor, JSON.stringify({ keyId, detail }))
  return (sql) => sql`
    update secrets set user_id = ${userId}, expires_at = ${expiresAt}, detail = ${stored}
    where kind = ${kind} and id = ${codeId}
  `
}

/** The code that may still be tried; for its mail, by its id. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findCode<Kind extends KeptPurpose>(
  { sql, keys }: Pick<Context, 'sql' | 'keys'>,
  kind: Kind,
  by: Binding | { codeId: string },
): Promise<OneTimeCode<Kind> | undefined> {
  const own = 'codeId' in by ? sql`id = ${by.codeId}` : boundTo(sql, by)
  const [row] = await orUnavailable(sql<Row[]>`
    select ${columns(sql)} from secrets where ${own} and ${living(sql, kind)}
  `)
  return row && open(keys, kind, row)
}

/**
 * Counts a try before it is compared, so that tries at once are no more than others. Undefined: there is no code, or it had
 * all its tries. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function countTry<Kind extends KeptPurpose>(
  { sql, keys }: Pick<Context, 'sql' | 'keys'>,
  kind: Kind,
  binding: Binding | BoundCode,
): Promise<OneTimeCode<Kind> | undefined> {
  const [row] = await orUnavailable(sql<Row[]>`
    update secrets set tries = tries + 1 where ${boundTo(sql, binding)} and ${living(sql, kind)}
    returning ${columns(sql)}
  `)
  return row && open(keys, kind, row)
}

/** Uses a code up beside an event: once, and only as long as no other took its place. Otherwise the caller gets `lost`. */
export function usingUpCode(
  { kind, code: { codeId }, stored }: OneTimeCode,
  lost: RosterError,
): { write: Statement; guard: Guard } {
  return {
    write: (sql) => sql`delete from secrets where kind = ${kind} and id = ${codeId}`,
    guard: {
      key: JSON.stringify([kind, codeId]),
      counted: { by: 'count_lost_secrets', of: { kind, id: codeId, detail: stored.toString('hex') } },
      most: 1,
      full: lost,
    },
  }
}

function columns(sql: Sql): Fragment {
  return sql`id, user_id as "userId", purpose, browser_id as "browserId", expires_at as "expiresAt", tries, detail`
}

function boundTo(sql: Sql, { purpose, browserId, ...by }: Binding | BoundCode): Fragment {
  const one = 'codeId' in by ? sql`id = ${by.codeId}` : sql`user_id = ${by.userId}`
  return sql`${one} and purpose = ${purpose} and browser_id is not distinct from ${browserId ?? null}`
}

function living(sql: Sql, kind: KeptPurpose): Fragment {
  return sql`kind = ${kind} and expires_at > roster_now() and tries < ${purposes[kind].rows.tries}`
}

function open<Kind extends KeptPurpose>(keys: Keyring, kind: Kind, row: Row): OneTimeCode<Kind> {
  const { id, userId, purpose, browserId, expiresAt, tries, detail: stored } = row
  const { keyId, detail } = JSON.parse(keys.decrypt(encryptedFor, stored)) as { keyId: string; detail: Detail }
  const code = { codeId: id, keyId, expiresAt: expiresAt.toISOString() }
  return { kind, code, userId, purpose, browserId: browserId ?? undefined, tries, detail, stored }
}
