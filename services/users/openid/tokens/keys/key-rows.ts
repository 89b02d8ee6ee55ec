import type { SigningKey } from '#gen/roster/users/v1/signing_key'
import { orUnavailable, type Sql, type Transaction } from '#lib/database/database'

/** Keys that sign one kind of token, in a table of their own. */
export interface KeyUse {
  table: 'signing_keys' | 'id_token_keys'
  /** Of an advisory lock. */
  lock: number
  encryptedFor: string
  /** As logs name what they sign. */
  signs: string
  /** The algorithms that have a signing key each. */
  algorithms: string[]
  /** A key of one algorithm may follow one of another. Otherwise each algorithm has keys of its own. */
  mayChange: boolean
  /** Seconds that a key stays published after the next one signs: the life of its last token, and the delay of replicas. */
  listedFor: number
  /** Seconds that its public half is kept after that. */
  keptFor: number
}

/** A key that is published. */
export interface KeyRow {
  kid: string
  algorithm: string
  publicKey: SigningKey
  privateKey: Buffer
  /** Whether the key's time to sign has come. */
  signs: boolean
  /** Whether the key has signed so long that the next one must be made. */
  old: boolean
}

/** Those that are published. A key is old after so many seconds. */
export function loadKeys(sql: Sql | Transaction, table: KeyUse['table'], oldAfter: number): Promise<KeyRow[]> {
  return orUnavailable(sql<KeyRow[]>`
    select kid, algorithm, public_key as "publicKey", private_key as "privateKey", signs_from <= roster_now() as signs,
      signs_from <= roster_now() - make_interval(secs => ${oldAfter}) as old
    from ${sql(table)} where private_key is not null order by signs_from, kid
  `)
}

/** Deletes what is no longer kept. A key that is no longer published loses its private half. */
export async function deleteOldKeys(sql: Transaction, { table, mayChange, listedFor, keptFor }: KeyUse) {
  const before = (seconds: number) => sql`
    kid in (
      select kid from (
        select kid, lead(signs_from) over (
          partition by case when ${mayChange}::boolean then '' else algorithm end order by signs_from, kid
        ) as until
        from ${sql(table)}
      ) k
      where until < roster_now() - make_interval(secs => ${seconds})
    )
  `
  await sql`delete from ${sql(table)} where ${before(listedFor + keptFor)}`
  if (keptFor > 0) await sql`update ${sql(table)} set private_key = null where ${before(listedFor)}`
}
