import { type Cache, createCache } from '../cache.ts'
import { RosterError } from '../errors.ts'
import { fits, Misfit, type Other, releaseOf, roster, unstated } from '../health/release.ts'
import { orUnavailable, type Sql, type Transaction } from '../database/database.ts'

// A row of `migrations` for each release that has run on this schema, with the release before it. A former release
// reads the names of rows and ignores those that it does not know.
const noteOf = /^release (\d+\.\d+) after (\d+\.\d+)$/

/**
 * Throws where the schema is newer or older than this version can work with, or where replicas of such a version are
 * connected. `applied` are the names of the migrations so far. Returns the note of this release if it is new here.
 */
export async function checkReleases(transaction: Transaction, applied: Set<string>): Promise<string | undefined> {
  if (applied.size > 0) {
    const notes = [...applied].flatMap((name) => {
      const [, release, former] = noteOf.exec(name) ?? []
      return release === undefined ? [] : [{ release, former: former! }]
    })
    const schema = newest(notes)
    if (!fits(schema)) throw new Misfit('its database was upgraded by', schema.release)
    const known = (release: string) => notes.find((note) => note.release === release) ?? { release }
    const wrong = (await runningReleases(transaction)).map(known).find((other) => !fits(other))
    if (wrong) throw new Misfit('beside it runs', wrong.release)
  }
  const note = `release ${roster.release} after ${roster.former}`
  return applied.has(note) ? undefined : note
}

/**
 * UNAVAILABLE UPGRADE_UNDER_WAY while a replica of the former release is connected, which would make a dead letter of an
 * event that it does not know. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function refuseBesideFormer(sql: Sql): Promise<void> {
  if (await isBesideFormer(sql))
    throw new RosterError('UNAVAILABLE', 'UPGRADE_UNDER_WAY', 'A replica of the former release is still running.', {
      retryAfter: 5,
    })
}

/**
 * Whether a replica of the former release is connected. One may come at any time, where an operator goes back to that
 * release. It is seen before it publishes its first event. UNAVAILABLE STORE_UNAVAILABLE.
 */
export function isBesideFormer(sql: Sql): Promise<boolean> {
  let cache = answers.get(sql)
  if (!cache) answers.set(sql, (cache = createCache({ capacity: 1, maxAge: aloneFor })))
  const known = cache.get('')
  if (known !== undefined) return Promise.resolve(known)
  return cache.obtain('', async () => {
    const isBeside = (await orUnavailable(runningReleases(sql))).includes(roster.former)
    // Whoever waits for the former replica to end learns of it at once.
    return { value: isBeside, ...(isBeside && { until: 0 }) }
  })
}

/** Milliseconds. A replica takes longer from its first connection to its first look at the outbox. */
const aloneFor = 100
const answers = new WeakMap<Sql, Cache<boolean>>()

// No other release comes after it.
function newest(notes: Required<Other>[]): Other {
  return (
    notes.find(({ release }) => notes.every(({ former }) => former !== release)) ?? { release: releaseOf(unstated) }
  )
}

// The releases of the other replicas of this service, as their connections state. They end with their process.
async function runningReleases(sql: Sql | Transaction): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and pg_has_role(usesysid, current_user, 'member') and pid <> pg_backend_pid()
  `
  return rows.flatMap(({ name }) => {
    const [isReplica, version = unstated] = /^roster-\S+(?: (\d+\.\d+\.\S+))?$/.exec(name) ?? []
    return isReplica === undefined ? [] : [releaseOf(version)]
  })
}
