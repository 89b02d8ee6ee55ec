import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import type { EventRow } from '../events/stored-event.ts'
import { type Aggregate, type Folds, keyText } from './aggregate.ts'
import type { UniqueKey, Use } from './command.ts'
import {
  type ByFunction,
  callFunction,
  foreignAnswer,
  type FunctionCall,
  type Insert,
  type Sql,
  type Statement,
  type Transaction,
  type Write,
} from '../database/database.ts'
import { ownMark, refuseAll, sharedSessions } from '../database/no-session.ts'
import { markSetting } from '../database/session-settings.ts'
import { claimText, type Decided, type Problem } from './batch.ts'
import type { FieldEncryption } from './field-encryption.ts'
import { inSpan } from '../telemetry/in-span.ts'
import type { Answers } from '../rpc/idempotency.ts'
import { spanOfStatement } from '../telemetry/statement-span.ts'
import type { Vocabulary } from './vocabulary.ts'

// Errors of a transaction that lost a race: unique_violation, serialization_failure, deadlock_detected.
const lostRaces = new Set(['23505', '40001', '40P01'])

/** What else concerns a batch. */
interface Extra {
  /** The batch is a bulk. */
  isBulk?: boolean
  /** One answer for the whole batch. */
  whole?: Decided['stored'] | undefined
  /** Undo everything at the end. */
  rollBack?: true
  /** Encrypts what is personal. */
  encryption?: FieldEncryption | undefined
}

/**
 * Stores the decisions of a batch in one transaction. Where the batch cannot be stored, returns the problem and stores
 * nothing.
 */
export async function appendBatch(
  sql: Sql,
  decided: Decided[],
  vocabulary: Vocabulary,
  answers: Answers | undefined,
  { isBulk = false, whole, rollBack, encryption }: Extra = {},
): Promise<Problem | undefined> {
  const changes = decided.filter(({ events }) => events.length > 0)
  const toStore = [...decided.map(({ stored }) => stored), whole]
  const encrypted = toStore.flatMap((stored) =>
    stored && answers ? [answers.encrypt(stored.once, stored.answer)] : [],
  )
  const stores = changes.length + encrypted.length > 0 || decided.some(({ held, writes }) => held || writes.length > 0)
  if (!stores && !decided.some(({ decision }) => decision?.commits)) return undefined
  const batch = toBatch(changes, decided, {
    answers: encrypted,
    isBulk,
    commits: !stores,
    encryption,
    folds: vocabulary.folds,
  })
  const writes = decided.flatMap((entry) => [
    ...entry.writes,
    ...(entry.events.length > 0 ? (vocabulary.project?.(entry) ?? []) : []),
  ])
  const steps = toSteps(writes)
  const calls = steps.filter((step) => typeof step !== 'function')
  try {
    if (calls.length === steps.length && !rollBack) await inSpan(appending, async () => append(sql, batch, calls))
    else
      await inSpan(appending, () =>
        sql.begin(async (transaction) => {
          await Promise.all([
            append(transaction, batch, []),
            ...steps.map((step) => (typeof step === 'function' ? step(transaction) : callFunction(transaction, step))),
          ])
          if (rollBack) throw new RolledBack()
        }),
      )
    return undefined
  } catch (error) {
    if (error instanceof RolledBack) return undefined
    if (!(error instanceof postgres.PostgresError)) throw error
    if (error.code === 'RS002') throw refuseAll(sql, sharedSessions())
    if (error.code === 'RS001') {
      const problem = { ...noProblem, ...(JSON.parse(error.detail ?? '') as Partial<Problem>) }
      return encryption ? encryption.readProblem(problem, decided) : problem
    }
    if (lostRaces.has(error.code)) return noProblem
    throw error
  }
}

const appending = spanOfStatement('SELECT append', { 'db.stored_procedure.name': 'append' })

const noProblem: Problem = { stale: [], taken: [], over: [], freed: [] }

class RolledBack extends Error {}

// PostgreSQL runs `append` first, and then the calls from left to right. The row comes after all of them. What stands
// between may confuse answers: only the row with the token of this statement says that it ran. In a session that is not
// the connection's own, nothing of it is stored.
async function append(sql: Sql | Transaction, { changes, events, moment, rest }: Batch, calls: FunctionCall[]) {
  const token = randomUUID()
  const results = [
    ...calls.map(({ name, rows }) => sql`${sql(name)}(${JSON.stringify(rows)}::text::json)`),
    sql`case current_setting('${sql.unsafe(markSetting)}', true) when ${ownMark}::text then ${token}::text else foreign_session() end as token`,
  ]
  const answer = await sql<{ token?: string }[]>`
    select ${results.reduce((before, next) => sql`${before}, ${next}`)}
    from append(${changes}::text::json, ${events}::text::json, ${moment}, ${rest}::text::jsonb)
  `
  if (answer[0]?.token !== token) throw foreignAnswer(answer)
}

/**
 * The statements that make these writes, in their order. Neighbouring rows of one kind are written together. Between two
 * statements, all rows that the same functions write are neighbours, and functions come in the order of their names. So
 * a batch has one of a few texts, for which PostgreSQL keeps plans, whatever its commands. Rows that fit anywhere come
 * last.
 */
export function toSteps(inOrder: Write[]): (Statement | FunctionCall)[] {
  const fitsAnywhere = (write: Write) => 'calls' in write && write.anywhere === true
  const writes = [...inOrder.filter((write) => !fitsAnywhere(write)), ...inOrder.filter(fitsAnywhere)]
  const groups: (Statement | { into: Insert['into']; rows: object[] } | Map<ByFunction['calls'], object[]>)[] = []
  for (const write of writes) {
    const last = groups.at(-1)
    if (typeof write === 'function') groups.push(write)
    else if ('calls' in write) {
      const kinds = last instanceof Map ? last : new Map<ByFunction['calls'], object[]>()
      if (kinds !== last) groups.push(kinds)
      const rows = kinds.get(write.calls)
      if (rows) rows.push(write.row)
      else kinds.set(write.calls, [write.row])
    } else if (last && 'into' in last && last.into === write.into) last.rows.push(write.row)
    else groups.push({ into: write.into, rows: [write.row] })
  }
  return groups.flatMap((group): (Statement | FunctionCall)[] => {
    if (typeof group === 'function') return [group]
    return group instanceof Map ? callsOf(group) : [(sql) => group.into(sql, group.rows)]
  })
}

function callsOf(kinds: Map<ByFunction['calls'], object[]>): FunctionCall[] {
  return [...kinds]
    .map(([calls, rows]) => calls(rows))
    .filter(({ length }) => length > 0)
    .toSorted(([a], [b]) => (a!.name < b!.name ? -1 : 1))
    .flat()
}

interface Batch {
  changes: string
  events: string
  moment: Date | null
  rest: string | null
}

// The arguments of the function `append`.
function toBatch(
  changes: Decided[],
  decided: Decided[],
  {
    encryption,
    folds = {},
    ...more
  }: {
    answers: object[]
    isBulk: boolean
    commits: boolean
    encryption: FieldEncryption | undefined
    folds: Folds | undefined
  },
): Batch {
  const first = new Map<string, Aggregate>()
  const last = new Map<string, Aggregate>()
  const reads = new Map<string, Aggregate>()
  for (const { before, after } of changes) {
    const key = keyText(before)
    if (!first.has(key)) first.set(key, before)
    last.set(key, after)
  }
  // A command without events may still be refused for good, because its claim collides within the batch. The refusal
  // only counts while the aggregates that it depends on are unchanged, so check them. A command without events that
  // read a changed aggregate of this batch depends on that moment, so check everything that it read. So does one that
  // writes: whoever changes one of them then either sees what was written, or comes first.
  const unchanged = decided.filter(
    ({ decision, events, writes, before, reads }) =>
      events.length === 0 &&
      (writes.length > 0 ||
        decision?.claims?.length ||
        (reads.length > 0 && [before, ...reads].some((read) => first.has(keyText(read))))),
  )
  for (const read of [
    ...changes.flatMap((change) => change.reads),
    ...unchanged.flatMap(({ before, reads }) => [before, ...reads]),
  ])
    if (!first.has(keyText(read))) reads.set(keyText(read), read)
  const held = decided.flatMap(({ held }) => (held ? [{ kind: held.kind, scope: held.scope, key: held.key }] : []))
  const keys = { ...netKeys(changes), held }
  const lists = {
    reads: [...reads.values()].map(expected),
    ...(encryption ? encryption.keys(keys) : keys),
    ...encryption?.subjects(first.values(), last.values()),
    uses: countUses(changes),
    // Former replicas and their SQL know it by this name.
    rooms: countGuards(changes),
    answers: more.answers,
  }
  const isPlain = Object.values(lists).every((list) => list.length === 0) && !more.commits
  const creates = first.values().some(({ sequence }) => sequence === 0)
  return {
    changes: JSON.stringify([...last].map(([key, after]) => toRow(after, first.get(key)!.sequence, encryption, folds))),
    events: JSON.stringify(changes.flatMap(({ events }) => events.map((event) => withoutTime(event, encryption)))),
    // All decisions of a batch have the same time.
    moment: changes[0]?.after.changedAt ?? null,
    rest: isPlain && !creates ? null : JSON.stringify({ ...lists, isBulk: more.isBulk, commits: more.commits }),
  }
}

// Within a batch a key can change hands more than once. Only two facts count: whether the row of its old holder is
// deleted, and which aggregate holds it at the end. A key that was claimed before it was released must have been
// free, even if it is free at the end.
function netKeys(changes: Decided[]) {
  const keys = new Map<string, { key: UniqueKey; releases: boolean; holder: string | undefined }>()
  const touch = ({ kind, scope, key }: UniqueKey, releases: boolean, holder: string | undefined) => {
    const text = claimText({ kind, scope, key })
    const earlier = keys.get(text)
    keys.set(text, { key: { kind, scope, key }, releases: earlier ? earlier.releases : releases, holder })
  }
  for (const { decision, after } of changes) {
    for (const key of decision.releases ?? []) touch(key, true, undefined)
    for (const key of decision.claims ?? []) touch(key, false, after.id)
  }
  const all = [...keys.values()]
  return {
    releases: all.filter(({ releases }) => releases).map(({ key }) => key),
    claims: all
      .filter(({ releases, holder }) => holder !== undefined || !releases)
      .map(({ key, holder }) => ({ ...key, aggregate_id: holder })),
  }
}

function countUses(changes: Decided[]) {
  const counted = new Map<string, { key: string; number: number; limits: Use['limits'] }>()
  for (const { key, limits } of changes.flatMap(({ decision }) => decision.uses ?? [])) {
    const same = counted.get(key)
    if (same) same.number++
    else counted.set(key, { key, number: 1, limits })
  }
  return [...counted.values()]
}

function countGuards(changes: Decided[]) {
  const guards = Map.groupBy(
    changes.flatMap(({ decision }) => decision.guards ?? []),
    ({ key }) => key,
  )
  return [...guards].map(([key, all]) => {
    const { most, counted } = all[0]!
    return { key, number: all.length, most, counted_by: counted.by, counted_of: counted.of }
  })
}

function expected({ type, id, sequence }: Aggregate) {
  return { type, id, sequence }
}

function toRow(aggregate: Aggregate, expected: number, encryption: FieldEncryption | undefined, folds: Folds) {
  const { type, id, organizationId, sequence } = aggregate
  const state = encryption ? encryption.state(aggregate) : aggregate.state
  return {
    type,
    id,
    organization_id: organizationId,
    expected,
    sequence,
    state,
    ...(!aggregate.outdated && { fold: folds[type] }),
  }
}

function withoutTime(event: EventRow, encryption: FieldEncryption | undefined) {
  const { aggregate_type, aggregate_id, sequence, type, organization_id, creator } = event
  const payload = encryption ? encryption.payload(event) : event.payload
  const { request_id, cause, traceparent } = event
  return {
    aggregate_type,
    aggregate_id,
    sequence,
    type,
    payload,
    organization_id,
    creator,
    request_id,
    cause,
    traceparent,
  }
}
