import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '#lib/eventstore/database'
import type { Phase } from '#lib/eventstore/personal/phase'
import { roster } from '#lib/health/release'
import type { Called, Command } from './command.ts'
import type { Output } from './output.ts'
import { Refusal } from './refusal.ts'

/** The command `seal`. */
export const seal: Command = {
  name: 'seal',
  summary: 'Has all that is personal of users sealed, in a database that began with an earlier release.',
  more: [
    'The service users does it, a portion after the other, while it answers. If you end the command, it goes on.',
    'Afterwards the release before this one cannot start on this database any more, so replace every replica first.',
    'It goes through all users until nothing is found in plain, and takes a minute and a half at least.',
    'A user whose key is lost or cannot be opened is passed over and named: exit status 1.',
    'A database that began with this release is sealed from its first event.',
  ],
  arguments: [0, 0],
  mayWrite: true,
  run,
}

const lookEvery = 1000
const role = 'roster_users'
/** A service that does nothing for so many milliseconds does not run. */
const patience = 5 * 60_000

async function run({ system, output, confirm }: Called): Promise<number> {
  const sql = system.sql('users')
  const found = await look(sql)
  if (found.phase === 'on') {
    await tell(output, found, 'All is sealed already.')
    return 0
  }
  const others = await otherReleases(sql)
  if (others.length > 0)
    throw new Refusal(`Replicas of another release are connected: ${others.join(', ')}. Replace them first.`)
  await confirm('There is no way back to the release before this one. Have a backup of the database.')
  const { walks: before } = await look(sql)
  await sql`update sealing set wanted = true`
  let last = ''
  for (let since = Date.now(); Date.now() - since < patience; await sleep(lookEvery)) {
    const now = await look(sql)
    const { phase, sealed, remaining, walks, skipped, hindering } = now
    if (phase === 'on' || (walks !== before && hindering > 0)) {
      await tell(output, now, phase === 'on' ? 'All is sealed.' : undefined)
      tellSkipped(output, now)
      return skipped > 0 ? 1 : 0
    }
    output.progress(phase === 'off' ? 'waits for the service users' : `${sealed} users are done, ${remaining} remain`)
    if (`${phase} ${sealed}` !== last) since = Date.now()
    last = `${phase} ${sealed}`
  }
  await tell(output, await look(sql), 'Nothing happens. Does the service users run? Its log says why it waits.')
  return 1
}

async function tell(output: Output, { phase, skipped, hindering, ids }: Progress, line?: string): Promise<void> {
  if (output.isJson) await output.json({ sealed: phase === 'on', skipped, hindering, users: ids })
  else if (line !== undefined) output.line(line)
}

function tellSkipped(output: Output, { skipped, hindering, ids }: Progress): void {
  if (skipped === 0) return
  const named = ids.join(', ')
  output.line(`Passed over because no key opens what is sealed of them: ${skipped} users, such as ${named}.`)
  if (hindering > 0) {
    output.line(`${hindering} of them, named first, still have rows in plain. So it is not over, and the audit chain is held.`) // prettier-ignore
    output.line(
      'Bring their rows of subject_keys back from a backup, or remove these users. It goes on then by itself.',
    )
  }
}

interface Progress {
  phase: Phase
  sealed: string
  remaining: string
  /** Walks through all users that came to their end. */
  walks: string
  /** Users whom the last walk passed over, those of them who hinder the end, and some of their ids. */
  skipped: number
  hindering: number
  ids: string[]
}

async function look(sql: Sql): Promise<Progress> {
  const [row] = await sql<Progress[]>`
    select phase, sealed, remaining, walks, skipped::int, hindering::int, skipped_ids as ids from sealing
  `
  if (!row) throw new Refusal('The service users of this release has never run here: start it first.')
  return row
}

// A connection without a version is one of 0.1. Any role may call itself so, but only the role of the service is one.
async function otherReleases(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string; pids: number[] }[]>`
    select application_name as name, array_agg(pid order by pid) as pids from pg_stat_activity
    where datname = current_database() and usename = ${role} and application_name ~ '^roster-users( |$)'
      and not starts_with(application_name, ${`roster-users ${roster.release}.`})
    group by application_name order by application_name
  `
  return rows.map(({ name, pids }) => `${name} (role ${role}, pid ${pids.join(', ')})`)
}
