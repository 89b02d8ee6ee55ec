import { roster } from '../../health/release.ts'
import type { Log } from '../../log.ts'
import type { Service } from '../../process.ts'
import { repeat } from '../../repeat.ts'
import { throttled } from '../../throttled.ts'
import type { Transaction } from '../database.ts'
import { runningReleases, sealedNote } from '../releases.ts'
import type { Phase } from '../personal/phase.ts'
import { type SealedPortion, type Sealing, sealPortion } from './seal-portion.ts'

const lookEvery = 2000
/** Milliseconds after which no change is under way any more that began before all people had keys. */
const grace = 90_000
/** People who are named. */
const mostNamed = 20

export interface SealingOptions extends Sealing {
  log: Log
  graceMs?: number
}

/**
 * Seals what earlier versions stored in plain, once an operator asks for it, a portion after the other. It goes on after
 * a restart, and any number of replicas may run it. Also learns how far the database is, until all is sealed.
 */
export function startSealing(options: SealingOptions): Service {
  const { sql, personal, log, graceMs = grace } = options
  const wrong = throttled(log, 'what is personal is not sealed: replicas of another release are connected')
  if (personal.phase === 'on') return { stop: async () => {} }

  const nothing: Walk = { after: '', people: 0, since: 0, found: false, skipped: 0, hindering: 0, ids: [] }
  let pass = nothing
  let notBefore = 0

  const turns = repeat({
    async work() {
      const [row] = await sql<[State]>`
        select phase, wanted, extract(epoch from now() - changed_at)::float8 * 1000 as quiet from sealing
      `
      personal.phase = row.phase
      if (row.phase === 'on') return 'done'
      if (row.phase === 'off') return row.wanted && (await begin()) ? 'more' : undefined
      if (performance.now() < notBefore) return undefined
      if (pass === nothing) pass = { ...nothing, since: performance.now() }
      const done = await sealPortion(options, pass.after)
      if (done) {
        pass = goOn(pass, done)
        await noteProgress(pass.people)
        return 'more'
      }
      const { found, since, skipped, hindering, ids } = pass
      pass = nothing
      await noteSkipped(skipped, hindering, ids)
      // An operator must do something first.
      if (hindering > 0) notBefore = performance.now() + graceMs / 3
      // A change that began before its person had a key may have been stored in plain since, by any replica.
      const isOver = !found && hindering === 0 && row.quiet - (performance.now() - since) >= graceMs
      if (isOver) await finish()
      return isOver ? 'more' : undefined
    },
    every: lookEvery,
    retryAfter: lookEvery,
    failed: throttled(log, 'the sealing of earlier rows waits and tries again'),
  })

  function noteProgress(people: number) {
    return sql`
      update sealing set sealed = ${people}, remaining = greatest(remaining + sealed - ${people}, 0)
    `
  }

  async function noteSkipped(skipped: number, hindering: number, ids: string[]) {
    if (skipped > 0) log.error({ skipped, hindering, subjects: ids }, 'users whose key is lost could not be sealed')
    await sql`
      update sealing set walks = walks + 1, skipped = ${skipped}, hindering = ${hindering}, skipped_ids = ${ids}
    `
  }

  async function begin(): Promise<boolean> {
    return sql.begin(async (transaction) => {
      await lockPhase(transaction)
      const others = (await runningReleases(transaction)).filter((release) => release !== roster.release)
      if (others.length > 0) {
        wrong(new Error(others.join(', ')))
        return false
      }
      const begun = await transaction`
        update sealing set phase = 'begun', changed_at = now(), remaining = (select count(*) from aggregates where type = ${personal.data.subject})
        where phase = 'off'
      `
      if (begun.count > 0) {
        await transaction`insert into migrations (name) values (${sealedNote}) on conflict do nothing`
        // Rows that the audit chain has are about to change.
        await transaction`select audit_hold()`
      }
      return true
    })
  }

  async function finish(): Promise<void> {
    // PostgreSQL's statistics sampled what was plain, and would keep it for long.
    await sql`analyze events, aggregates`
    await sql.begin(async (transaction) => {
      await transaction`set local statement_timeout = 0`
      await lockPhase(transaction)
      const finished = await transaction`update sealing set phase = 'on', remaining = 0 where phase = 'begun'`
      if (finished.count === 0) return
      await transaction`
        delete from unique_keys where kind = any(${personal.data.keyKinds}) and left(key, 1) <> 'H'
      `
      await transaction`analyze unique_keys, first_keys`
      await transaction`select audit_begin('sealed')`
      await options.finished(transaction)
    })
    log.info('what is personal is sealed everywhere')
  }

  return { stop: () => turns.stop() }
}

/** A walk through all people. */
interface Walk {
  after: string
  people: number
  since: number
  /** Whether it found anything plain. */
  found: boolean
  skipped: number
  hindering: number
  /** Some of those who were skipped; first those who hinder the end. */
  ids: string[]
}

function goOn(walk: Walk, { last, people, changed, skipped }: SealedPortion): Walk {
  const hindering = skipped.filter(({ hinders }) => hinders).map(({ id }) => id)
  const others = skipped.filter(({ hinders }) => !hinders).map(({ id }) => id)
  return {
    ...walk,
    after: last,
    people: walk.people + people,
    found: walk.found || changed,
    skipped: walk.skipped + skipped.length,
    hindering: walk.hindering + hindering.length,
    ids: [...walk.ids.slice(0, walk.hindering), ...hindering, ...walk.ids.slice(walk.hindering), ...others].slice(
      0,
      mostNamed,
    ),
  }
}

interface State {
  phase: Phase
  wanted: boolean
  /** Milliseconds since anything plain was found. */
  quiet: number
}

// Changes that go by the phase hold this lock together.
function lockPhase(transaction: Transaction) {
  return transaction`select pg_advisory_xact_lock(hashtextextended(concat_ws('/', current_schema(), 'sealing'), 0))`
}
