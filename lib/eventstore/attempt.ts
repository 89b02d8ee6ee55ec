import type { KeyObject } from 'node:crypto'
import { isNewEvent } from '../events/new-events.ts'
import type { EventRow } from '../events/stored-event.ts'
import { type Aggregate, type AggregateKey, keyText, loading, type Read } from './aggregate.ts'
import { appendBatch } from './append.ts'
import { claimText, type Decided, type Known, type Pending, type Problem } from './batch.ts'
import { isConnectionError, readNow, type Sql, storeUnavailable } from '../database/database.ts'
import { decideBatch } from './decide.ts'
import { loadFolded } from './load-folded.ts'
import { batchSize, conflicts, retries, transactions } from './measures.ts'
import { keysOf } from './reads.ts'
import { RosterError } from '../errors.ts'
import { inSpan } from '../telemetry/in-span.ts'
import type { Answers } from '../rpc/idempotency.ts'
import type { Personal } from '../encryption/personal.ts'
import { createFieldEncryption, type FieldEncryption } from './field-encryption.ts'
import type { Vocabulary } from './vocabulary.ts'

/** What a store works with. */
export interface StoreParts {
  sql: Sql
  vocabulary: Vocabulary
  /** Gets the events of each commit. */
  committed: (events: EventRow[]) => void
  answers?: Answers | undefined
  personal?: Personal | undefined
  mostEventBytes: number
  /** Throws while a replica of the former release runs, for which new events wait. */
  refuseBesideFormer?: (() => Promise<void>) | undefined
}

/** The decisions of one try, and why they could not be stored. Without a problem, they are stored. */
export interface Attempted {
  decided: Decided[]
  problem: Problem | undefined
}

/**
 * Decides the commands on the state of now, and stores them in one transaction. `whole` makes one answer of all
 * decisions, which is stored with them. Adds the limits that are used up to `known`.
 */
export async function attempt(
  parts: StoreParts,
  batch: Pending[],
  known: Known,
  whole?: (decided: Decided[]) => Decided['stored'],
): Promise<Attempted> {
  const { sql, vocabulary, committed, answers } = parts
  const began = performance.now()
  const { decided, encryption } = await decideAll(parts, batch, known)
  const problem = await appendBatch(sql, decided, vocabulary, answers, {
    isBulk: whole !== undefined,
    whole: whole?.(decided),
    encryption,
  })
  const kind = whole ? 'bulk' : 'single'
  batchSize.record(batch.length, kind)
  transactions.record((performance.now() - began) / 1000, kind)
  if (problem) retries.add(1, causeOf(problem))
  if (problem) known.isStale = true
  for (const over of problem?.over ?? []) known.over.set(over.key, over)
  const events = problem ? [] : decided.flatMap((entry) => entry.events)
  if (events.length > 0) committed(events)
  return { decided, problem }
}

function causeOf({ stale, taken, over, freed }: Problem): string {
  if (stale.length > 0) return 'changed'
  if (taken.length + freed.length > 0) return 'taken'
  return over.length > 0 ? 'limit' : 'race'
}

/**
 * Stores nothing, but returns whether PostgreSQL takes these commands in one transaction. Throws without a database.
 */
export async function tryOut(parts: StoreParts, batch: Pending[], known: Known): Promise<'works' | 'fails' | 'raced'> {
  const { decided, encryption } = await decideAll(parts, batch, known)
  try {
    const extra = { isBulk: true, rollBack: true, encryption } as const
    const problem = await appendBatch(parts.sql, decided, parts.vocabulary, undefined, extra)
    if (!problem) return 'works'
    return isNamed(problem) ? 'raced' : 'fails'
  } catch (error) {
    if (isConnectionError(error)) throw storeUnavailable(error)
    return 'fails'
  }
}

/** Whether the problem says what the batch lost. */
export function isNamed({ stale, taken, over, freed }: Problem): boolean {
  return stale.length + taken.length + over.length + freed.length > 0
}

async function decideAll(
  { sql, vocabulary, mostEventBytes, personal, refuseBesideFormer }: StoreParts,
  batch: Pending[],
  known: Known,
): Promise<{ decided: Decided[]; encryption: FieldEncryption | undefined }> {
  const byKey = known.isStale ? new Map<string, Read<Aggregate>>() : knownTo(batch, personal)
  const keys = new Map<string, AggregateKey>()
  for (const { command } of batch)
    for (const key of [command.aggregate, ...keysOf(command)]) if (!byKey.has(keyText(key))) keys.set(keyText(key), key)
  const subjects = personal && new Map<string, KeyObject>()
  if (keys.size > 0)
    for (const aggregate of await inSpan(loading, () =>
      loadFolded(sql, [...keys.values()], vocabulary, personal, subjects),
    ))
      byKey.set(keyText(aggregate), aggregate)
  // A bulk that finds nothing loads nothing.
  const now = latest([...byKey.values()]) ?? (await readNow(sql))
  const decide = (known: Known) =>
    inSpan(deciding, async () => decideBatch(batch, byKey, vocabulary, now, mostEventBytes, known))
  let decided = await decide(known)
  if (refuseBesideFormer && decided.some(({ events }) => events.some(isNewEvent)))
    await refuseBesideFormer().catch(async (newEvents: RosterError) => {
      decided = await decide({ ...known, newEvents })
    })
  return { decided, encryption: personal && createFieldEncryption(personal, subjects!) }
}

// The newest of what the requests have read. To change what is encrypted for a person takes the key, which only a load
// brings.
function knownTo(batch: Pending[], personal: Personal | undefined): Map<string, Read<Aggregate>> {
  const byKey = new Map<string, Read<Aggregate>>()
  for (const { command } of batch)
    for (const aggregate of command.known ?? []) {
      const key = keyText(aggregate)
      if (aggregate.sequence >= (byKey.get(key)?.sequence ?? 0)) byKey.set(key, aggregate)
    }
  const types = personal && new Set([personal.data.subject, ...personal.data.events, ...personal.data.states])
  for (const { command } of batch) if (types?.has(command.aggregate.type)) byKey.delete(keyText(command.aggregate))
  return byKey
}

function latest(read: Read<Aggregate>[]): Date | undefined {
  return read.reduce<Date | undefined>((last, { readAt }) => (last && last > readAt ? last : readAt), undefined)
}

const deciding = { name: 'decide' }

/** ABORTED CONFLICT for commands that are given up. */
export function giveUp(commands = 1): RosterError {
  conflicts.add(commands)
  return new RosterError('ABORTED', 'CONFLICT', 'Other calls kept changing the same object.')
}

/** Refuses the open commands whose claims others hold, and takes them out of `open`. */
export function refuseTaken(open: Set<Pending>, decided: Decided[], problem: Problem): void {
  const taken = new Set(problem.taken.map(claimText))
  // A command that depends on an earlier change of this batch decides again. That change may be refused next.
  const stale = new Set(problem.stale.map(keyText))
  for (const entry of decided) {
    if (open.has(entry.pending) && entry.refuse({ taken, stale })) open.delete(entry.pending)
    if (entry.events.length > 0) stale.add(keyText(entry.before))
  }
}
