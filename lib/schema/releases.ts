import { fits, Misfit, type Other, releaseOf, roster, unstated } from '../health/release.ts'
import type { Transaction } from '../database/database.ts'

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

// No other release comes after it.
function newest(notes: Required<Other>[]): Other {
  return (
    notes.find(({ release }) => notes.every(({ former }) => former !== release)) ?? { release: releaseOf(unstated) }
  )
}

// The releases of the other replicas of this service, as their connections state. They end with their process.
async function runningReleases(transaction: Transaction): Promise<string[]> {
  const rows = await transaction<{ name: string }[]>`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and usename = current_user and pid <> pg_backend_pid()
  `
  return rows.flatMap(({ name }) => {
    const [isReplica, version = unstated] = /^roster-\S+(?: (\d+\.\d+\.\S+))?$/.exec(name) ?? []
    return isReplica === undefined ? [] : [releaseOf(version)]
  })
}
