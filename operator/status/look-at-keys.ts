import { subjectKeyOf } from '#lib/encryption/personal'
import { encryptedAs } from '#lib/encryption/encrypted-text'
import { models } from '../models.ts'
import { Refusal } from '../refusal.ts'
import type { System } from '../system.ts'

/** What was found of the keys of users. */
export interface KeyStatus {
  /** Users who were looked at, and whether these are all. */
  looked: number
  isAll: boolean
  /** Whether the command has the key that unwraps those of users. Without it, it only sees whether they are there. */
  opened: boolean
  /** Users whose key is missing or cannot be unwrapped, and some of them by their ids. */
  lost: number
  users: string[]
}

/** Blocks of `aggregates` that are read, at most: a database may have any number of users. */
const mostBlocks = 1000
const mostNamed = 5
/** Users that are in memory at once. */
const atOnce = 1000

/**
 * Looks whether users have the keys that open what is stored of them. Of a large table it looks at some blocks, which
 * are others each time: a lost encryption key shows at once, and `verify` finds each single user.
 */
export async function lookAtKeys(system: System): Promise<KeyStatus> {
  const sql = system.sql('users')
  const { subject } = models.users.personal!
  const personal = await system.personal('users').catch((error: unknown) => {
    if (error instanceof Refusal) return undefined
    throw error
  })
  const [{ share }] = await sql<[{ share: number }]>`
    select least(100, 100.0 * ${mostBlocks} * current_setting('block_size')::int
      / greatest(1, pg_relation_size('aggregates')))::float8 as share
  `
  const reading = sql<{ id: string; key: string | null }[]>`
    select id, ${subjectKeyOf(sql, sql`a.id`)} as key from aggregates a tablesample system (${share})
    where type = ${subject} and state ? ${encryptedAs}
  `
  const found = { looked: 0, isAll: share === 100, opened: personal !== undefined, lost: 0, users: [] as string[] }
  for await (const rows of reading.cursor(atOnce)) {
    const lost = rows.filter(({ key }) => key === null || !unwraps(key))
    found.looked += rows.length
    found.lost += lost.length
    found.users.push(...lost.slice(0, mostNamed - found.users.length).map(({ id }) => id))
  }
  return found

  function unwraps(key: string): boolean {
    try {
      personal?.unwrap(key)
      return true
    } catch {
      return false
    }
  }
}
