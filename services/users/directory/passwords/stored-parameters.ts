import { orUnavailable, type Sql } from '#lib/database/database'
import { offered, standard, workOf } from '#lib/credentials/argon2-parameters'

/** Seconds from a change of the setting until passwords are hashed by it. By then each replica has read of it. */
const pause = 10

/** No single hash, wherever it came from, makes each check take more memory. In KiB. */
const mostMemory = 1_048_576

/** The most parameters that count. Those of imported hashes are a few. */
const most = 20

export interface StoredParameters {
  /** Passwords are hashed with these. */
  current: string
  /** Those of stored hashes, and those that a replica may store before the next read. */
  counted: string[]
}

/**
 * Makes this the setting of the instance, for all replicas: the one that a replica started with last counts. So replicas
 * with different settings do not hash each other's passwords again and again.
 */
export async function noteSetting(sql: Sql, parameters: string): Promise<void> {
  await orUnavailable(sql`
    insert into hashing_settings (parameters, begins_at)
    select ${parameters}, roster_now() + make_interval(secs => case when exists (select from passwords) then ${pause} else 0 end)
    where ${parameters} <> coalesce((select parameters from hashing_settings order by number desc limit 1), ${standard})
  `)
}

/** Reads which parameters are stored and set. UNAVAILABLE STORE_UNAVAILABLE. */
export async function readParameters(sql: Sql): Promise<StoredParameters> {
  const [row] = await orUnavailable(sql<[{ stored: string[]; set: string[]; current: string | null }]>`
    with recursive stored (parameters, number) as (
      (select split_part(hash, '$', 4) collate "C", 1 from passwords order by split_part(hash, '$', 4) collate "C" limit 1)
      union all
      select (
        select split_part(hash, '$', 4) collate "C" from passwords
        where split_part(hash, '$', 4) collate "C" > s.parameters order by split_part(hash, '$', 4) collate "C" limit 1
      ), s.number + 1
      from stored s where s.parameters is not null and s.number < ${most}
    ), settings as (
      select parameters, number, begins_at, lead(begins_at) over (order by number) as ends_at from hashing_settings
    )
    select array(select parameters from stored where parameters is not null) as stored,
      -- A replica may still go by the former one.
      array(
        select parameters from settings where coalesce(ends_at, 'infinity') > roster_now() - interval '1 minute'
      ) as set,
      (select parameters from settings where begins_at <= roster_now() order by number desc limit 1) as current
  `)
  const isComputed = (parameters: string) => (workOf(parameters)?.memory ?? Infinity) <= mostMemory
  const isOffered = (offered as readonly (string | null)[]).includes(row.current)
  const current = isOffered ? row.current! : standard
  return { current, counted: [...new Set([...row.stored, ...row.set, current])].filter(isComputed).toSorted() }
}
