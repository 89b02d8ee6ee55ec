import { v7 as uuid } from 'uuid'
import { orUnavailable, type Write } from '#lib/database/database'
import { deleteInPortions } from '#lib/database/delete-in-portions'
import { decryptJson, encryptJson } from '#lib/encryption/encrypted-text'
import { findKeys, passingOver } from '#lib/encryption/personal'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../context.ts'
import type { FactorKind } from '../events/session.ts'
import { rowsFor } from '../../row-function.ts'
import { factorKinds } from '../factors/kinds.ts'
import { type ParsedUserAgent, parseUserAgent } from './parsed-user-agent.ts'

/** Where somebody signed in from. */
export interface SignInClient extends ParsedUserAgent {
  /** As limits count it: an IPv4 address, or the /64 of an IPv6 address. */
  address: string
}

export interface RecordRow {
  id: string
  at: Date
  sessionId: string
  factors: FactorKind[]
  partial: boolean
  /** Encrypted. */
  client: string
}

/**
 * Begins the record of a sign-in, which is stored with its session. A second factor is added to the record of the first
 * one. Returns what makes the writes.
 */
export async function openRecord(
  { sql, personal, config }: Pick<Context, 'sql' | 'personal' | 'config'>,
  { userId, kind, clientId }: { userId: string; kind: FactorKind; clientId: string | undefined },
  { clientAddress = '', userAgent = '' }: Partial<Call>,
): Promise<(sessionId: string, partial: boolean) => Write[]> {
  if (config.SIGN_IN_RECORD_DAYS === 0) return () => []
  if (!factorKinds[kind].isFirst) return (sessionId, partial) => [addFactor(userId, sessionId, kind, partial)]
  // A replica of the former release would leave the rows of somebody whom it erases.
  const [keys, isBeside] = await Promise.all([orUnavailable(findKeys(sql, personal, [userId])), isBesideFormer(sql)])
  const key = keys.get(userId)
  if (!key || isBeside) return () => []
  const id = uuid()
  const client: SignInClient = { address: clientAddress, ...parseUserAgent(userAgent) }
  const encrypted = encryptJson(key, client, placeOf(userId, id))
  return (sessionId, partial) => [
    keepRecord({
      user_id: userId,
      id,
      session_id: sessionId,
      client_id: clientId || null,
      factor: kind,
      partial,
      client: encrypted,
    }),
  ]
}

// Of a person a thousand are kept: who knows the password could fill the table.
const keepRecord = rowsFor<{
  user_id: string
  id: string
  session_id: string
  client_id: string | null
  factor: FactorKind
  partial: boolean
  client: string
}>('keep_sign_in_records')

function addFactor(userId: string, sessionId: string, kind: FactorKind, partial: boolean): Write {
  return (sql) => sql`
    update sign_in_records set factors = array_append(array_remove(factors, ${kind}), ${kind}), partial = ${partial}
    where user_id = ${userId} and id = (
      select id from sign_in_records where user_id = ${userId} and session_id = ${sessionId} order by id desc limit 1
    )
  `
}

/** Decrypts the clients of records of people. One that no key decrypts is empty. */
export async function readClients(
  { sql, personal }: Pick<Context, 'sql' | 'personal'>,
  rows: (Pick<RecordRow, 'id' | 'client'> & { userId: string })[],
): Promise<(SignInClient | undefined)[]> {
  if (rows.length === 0) return []
  const people = [...new Set(rows.map(({ userId }) => userId))]
  const keys = await orUnavailable(findKeys(sql, passingOver(personal), people))
  return rows.map(({ userId, id, client }) => {
    try {
      const key = keys.get(userId)
      return key && (decryptJson(key, client, placeOf(userId, id)) as SignInClient)
    } catch {
      return undefined
    }
  })
}

/** Deletes records and counts that are older than the setting says. */
export async function deleteRecords({ sql, config }: Pick<Context, 'sql' | 'config'>): Promise<void> {
  const end = sql`roster_now() - make_interval(days => ${config.SIGN_IN_RECORD_DAYS})`
  await deleteInPortions(sql, 'sign_in_records', sql`at <= ${end}`)
  await deleteInPortions(sql, 'sign_in_failures', sql`hour <= ${end}`)
}

// What it is encrypted for: in no other row can it be read.
function placeOf(userId: string, id: string): string {
  return `sign-in-record/${id}/${userId}`
}
