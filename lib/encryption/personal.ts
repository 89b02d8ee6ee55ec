import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { StoredEvent } from '../events/stored-event.ts'
import type { Keyring } from './keys.ts'
import type { Fragment, Sql, Transaction } from '../database/database.ts'
import { roster } from '../health/release.ts'
import { decryptEvent, decryptState, encryptedPart, isEncrypted, type StoredState } from './encrypted-fields.ts'
import { encryptedAs } from './encrypted-text.ts'
import { createSubjectKeys, type SubjectKeys, wrappedFor } from './subject-keys.ts'

/** Data of people, each of whom has a key of its own. */
export interface PersonalData {
  /** The type of the aggregates that stand for a person. With the first event of one, its key is made. */
  subject: string
  /** Types of aggregates with a person's id whose events have personal fields, beside the subject's own. */
  events: string[]
  /** Those of them whose states are personal too. */
  states: string[]
  /** Kinds of unique keys that are names of people. */
  keyKinds: string[]
  /** Whether a person is to be erased after a change: whether the state of the subject has nothing personal left. */
  isErased(state: unknown): boolean
}

/** Field encryption: encrypts and decrypts what a service stores of people. */
export interface Personal extends SubjectKeys {
  data: PersonalData
  /**
   * Events as they are shown: decrypted, or without their personal fields where the person is erased. Those that no key
   * decrypts stay encrypted.
   */
  decryptEvents<Row extends StoredEvent>(sql: Sql | Transaction, events: Row[]): Promise<Row[]>
  /**
   * A state as it was before it was encrypted. Throws where somebody changed the row, and where the key of a person is
   * lost: the state of one who is erased is plain. Any other state without a key is undefined.
   */
  decryptState(row: StoredState): unknown
  /** A unique key as it is stored: that of a person's name is hashed. */
  storedKey(kind: string, key: string): string
}

/** The part of `Personal` that the database has. */
export interface EncryptionRow {
  secret: Buffer
}

/** Makes `Personal` of what the database has. */
export function createPersonal(
  data: PersonalData,
  keys: Pick<Keyring, 'encrypt' | 'decrypt'>,
  { secret }: EncryptionRow,
): Personal {
  const subjectKeys = createSubjectKeys(keys)
  const nameSecret = createSecretKey(Buffer.from(keys.decrypt(wrappedFor, secret), 'base64'))
  return {
    ...subjectKeys,
    data,
    async decryptEvents(sql, events) {
      const ids = new Set(events.filter(isEncrypted).map((event) => event.aggregate_id))
      if (ids.size === 0) return events
      const found = await findKeys(sql, passingOver(subjectKeys), [...ids])
      const missing = [...ids].filter((id) => !found.has(id))
      if (missing.length > 0) for (const id of await findLost(sql, data.subject, missing)) found.set(id, foreignKey)
      return events.map((event) => decryptEvent(found.get(event.aggregate_id), event))
    },
    decryptState({ state, key, ...place }) {
      const encrypted = encryptedPart(state)
      if (encrypted === undefined) return state
      if (!key) {
        if (place.type === data.subject) throw new Error('the key of this person is lost')
        return undefined
      }
      return decryptState(subjectKeys.unwrap(key), encrypted, place)
    },
    storedKey: (kind, key) => (data.keyKinds.includes(kind) ? hashedKey(nameSecret, kind, key) : key),
  }
}

/**
 * Opens the field encryption of a service: what it stores of people is encrypted from its first event on. Throws where
 * there are events from before.
 */
export async function openPersonal(sql: Sql, data: PersonalData, keys: Keyring): Promise<Personal> {
  const secret = keys.encrypt(wrappedFor, randomBytes(32).toString('base64'))
  // Another replica may be faster. All go by the secret that is stored.
  await sql`
    insert into sealing (phase, secret) select 'on', ${secret} where not exists (select from events)
    on conflict do nothing
  `
  const [row] = await sql<EncryptionRow[]>`select secret from sealing`
  if (!row) throw personalInPlain()
  return createPersonal(data, keys, row)
}

/**
 * The form in which a unique key with a name of a person is stored: a keyed hash. Its first letter names this form, so
 * that another one could be distinguished from it.
 */
export function hashedKey(secret: KeyObject, kind: string, key: string): string {
  return `H${createHmac('sha256', secret).update(kind).update('/').update(key).digest('base64url')}`
}

// Decrypts nothing.
const foreignKey = createSecretKey(randomBytes(32))

/**
 * To read with: where a wrapped key was changed, what it encrypted cannot be decrypted, and all else can. A wrong
 * encryption key is found at the start.
 */
export function passingOver({ unwrap }: Pick<SubjectKeys, 'unwrap'>): Pick<SubjectKeys, 'unwrap'> {
  return {
    unwrap(text) {
      try {
        return unwrap(text)
      } catch {
        return foreignKey
      }
    },
  }
}

/** The keys of these people, by their ids. */
export async function findKeys<Key>(
  sql: Sql | Transaction,
  subjectKeys: { unwrap(text: string): Key },
  ids: string[],
): Promise<Map<string, Key>> {
  const rows = await sql<{ id: string; key: string }[]>`
    select subject_id as id, wrapped::text as key from subject_keys where subject_id = any(${ids}) limit ${ids.length}
  `
  return new Map(rows.map(({ id, key }) => [id, subjectKeys.unwrap(key)]))
}

// Those without a key who are not erased: their state is still encrypted. Ask it after the keys: a state becomes
// plain in the transaction that destroys its key.
async function findLost(sql: Sql | Transaction, subject: string, ids: string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from aggregates where type = ${subject} and id = any(${ids}) and state ? ${encryptedAs} limit ${ids.length}
  `
  return rows.map(({ id }) => id)
}

/** Selects the key of the person whose aggregate has this id. */
export function subjectKeyOf(sql: Sql | Transaction, id: Fragment): Fragment {
  return sql`(select wrapped::text from subject_keys where subject_id = ${id})`
}

/** The error of a database that has data of people in plain. */
export function personalInPlain(): Error {
  return new Error(
    `Roster ${roster.version} cannot start, because its database has data of people that is not encrypted: ` +
      'call `npm run roster -- seal` of 0.3.0 first (docs/upgrading.md).',
  )
}
