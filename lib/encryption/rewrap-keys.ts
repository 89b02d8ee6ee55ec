import { setImmediate as tick } from 'node:timers/promises'
import type { Keyring } from './keys.ts'
import type { Log } from '../log.ts'
import type { Service } from '../process.ts'
import type { Sql } from '../database/database.ts'
import { wrappedFor } from './subject-keys.ts'

const portion = 5000

/**
 * Wraps each key of a person again, with the encryption key in use, while the service answers already. Then a former
 * encryption key may be removed. Several replicas may do it at once. What no key decrypts stays as it is.
 */
export function startRewrapping(sql: Sql, keys: Keyring, log: Log): Service {
  const stopping = new AbortController()
  const work = rewrapKeys(sql, keys, log, stopping.signal).catch((error: unknown) =>
    log.warn({ err: error }, 'not all keys of users are wrapped again: the next start continues'),
  )
  return {
    async stop() {
      stopping.abort()
      await work
    },
  }
}

/** Does it once. */
export async function rewrapKeys(sql: Sql, keys: Keyring, log: Log, stopped: AbortSignal): Promise<void> {
  const again = (wrapped: Buffer) => keys.encrypt(wrappedFor, keys.decrypt(wrappedFor, wrapped))
  const isFormer = (wrapped: Buffer) => wrapped.subarray(0, 4).toString('hex') !== keys.currentId
  for (const { secret } of await sql<{ secret: Buffer }[]>`select secret from sealing`)
    if (isFormer(secret)) await sql`update sealing set secret = ${again(secret)} where secret = ${secret}`
  for (let last = ''; !stopped.aborted; await tick()) {
    const rows = await sql<{ id: string; wrapped: Buffer | null }[]>`
      select subject_id as id,
        case when substr(wrapped, 1, 4) <> decode(${keys.currentId}, 'hex') then wrapped end as wrapped
      from subject_keys where subject_id > ${last} order by subject_id limit ${portion}
    `
    if (rows.length === 0) return
    last = rows.at(-1)!.id
    for (const { id, wrapped } of rows) {
      if (!wrapped) continue
      try {
        await sql`update subject_keys set wrapped = ${again(wrapped)} where subject_id = ${id} and wrapped = ${wrapped}`
      } catch (error) {
        log.error({ err: error, subject: id }, 'the key of a user was wrapped with an encryption key that is gone')
      }
    }
  }
}
