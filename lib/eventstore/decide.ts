import { isNewEvent } from '../events/new-events.ts'
import type { EventRow } from '../events/stored-event.ts'
import { codes, RosterError } from '../errors.ts'
import { type Aggregate, type AggregateKey, keyText } from './aggregate.ts'
import type { Decision, NewEvent, Origin, Outcome, UniqueKey, Use } from './command.ts'
import { checkSizes } from './limits.ts'
import type { Vocabulary } from './vocabulary.ts'
import { keysOf, namedBy } from './reads.ts'
import { type AnyCommand, claimText, type Decided, type Known, type Lost, type Over, type Pending } from './batch.ts'

/**
 * Decides each command on the state that the commands before it leave. Pure: it answers no caller, because the
 * batch may still fail. Even a refusal may depend on a change that then never happens. `known`: what earlier attempts
 * found out.
 */
export function decideBatch(
  batch: Pending[],
  loaded: Map<string, Aggregate>,
  vocabulary: Vocabulary,
  now: Date,
  mostEventBytes: number,
  { over, taken: byOthers, newEvents }: Known,
): Decided[] {
  const current = new Map(loaded)
  const claimed = new Set<string>()
  const held = new Set(byOthers)
  const free = new Map([...over.values()].map((known) => [known.key, known.free]))
  return batch.map((pending) => {
    const { command, reject } = pending
    const find = (key: AggregateKey) => current.get(keyText(key))!
    const before = find(command.aggregate)
    const reads = keysOf(command).map(find)
    let decision = nothing
    let lost: UniqueKey | undefined
    const refuseThis: Decided['refuse'] = (lost) => refuse(pending, decision, lost)
    const unchanged = { pending, before, after: before, reads, decision, events: [], writes: [], refuse: refuseThis }
    try {
      throwUnreadable(command, before, reads)
      const matched = command.matchesRead === undefined ? before : find(command.reads[command.matchesRead])
      decision = decideWhereItMatches(command, matched, () => command.decide(before, now, namedBy(command, find)))
      const others = decision.claims?.find((claim) => held.has(claimText(claim)))
      const taken = others ?? decision.claims?.find((claim) => claimed.has(claimText(claim)))
      lost = others
      if (taken) throw taken.taken
      const exceeded = decision.uses?.filter(({ key }) => free.get(key) === 0)
      if (exceeded?.length) throw longestWait(exceeded, over)
      const full = decision.guards?.find(({ key }) => (free.get(key) ?? 1) < 1)
      if (full) throw full.full
      const { after, events } = apply(pending, decision, before, vocabulary, now, mostEventBytes)
      if (newEvents && events.some(isNewEvent)) throw newEvents
      current.set(keyText(after), after)
      for (const { key } of [...(decision.uses ?? []), ...(decision.guards ?? [])])
        if (free.has(key)) free.set(key, free.get(key)! - 1)
      for (const key of (decision.releases ?? []).map(claimText)) {
        claimed.delete(key)
        held.delete(key)
      }
      for (const claim of decision.claims ?? []) claimed.add(claimText(claim))
      return {
        ...unchanged,
        ...settle(pending, decision, { before, after, answer: decision.answer }),
        after,
        decision,
        events,
        writes: (events.length > 0 || decision.commits ? decision.writes : undefined) ?? [],
      }
    } catch (error) {
      return { ...unchanged, decision, ...(lost && { held: lost }), answer: () => reject(error) }
    }
  })
}

// Of a new aggregate only its absence counts.
function throwUnreadable({ creates, evenUnreadable }: AnyCommand, before: Aggregate, reads: Aggregate[]): void {
  const needed = creates || evenUnreadable ? reads : [before, ...reads]
  for (const { unreadable } of needed) if (unreadable) throw unreadable
}

function longestWait(exceeded: Use[], over: ReadonlyMap<string, Over>): RosterError {
  const waits = exceeded.map((use) => ({ use, wait: over.get(use.key)!.wait }))
  const { use, wait } = waits.reduce((longest, one) => (one.wait > longest.wait ? one : longest))
  return use.exceeded(Math.max(1, Math.ceil(wait)))
}

// Whether a condition is checked must not reveal more than the answer without it. A caller that finds nothing learns only
// that. Where an anonymous caller gives a wrong proof, it learns only that too; anybody may try proofs. An aggregate
// that is yet to be created has no sequence, even if its id is taken.
function decideWhereItMatches(
  command: AnyCommand,
  { sequence }: Aggregate,
  decide: () => Decision<NewEvent, unknown>,
): Decision<NewEvent, unknown> {
  const { ifMatch, ifNoneMatch, caller } = command.call
  if (ifMatch === undefined && ifNoneMatch === undefined) return decide()
  if (command.creates) {
    checkSequence(command.call, 0)
    return decide()
  }
  const isKnown = caller.userId !== ''
  let decision: Decision<NewEvent, unknown>
  try {
    decision = decide()
  } catch (error) {
    const isMissing = error instanceof RosterError && error.code === codes.NOT_FOUND
    if (isKnown && !isMissing) checkSequence(command.call, sequence)
    throw error
  }
  if (!decision.error) checkSequence(command.call, sequence)
  return decision
}

function checkSequence({ ifMatch, ifNoneMatch }: Origin, sequence: number) {
  const isAmong = (wanted: number[] | '*') => (wanted === '*' ? sequence > 0 : wanted.includes(sequence))
  if ((ifMatch && !isAmong(ifMatch)) || (ifNoneMatch && isAmong(ifNoneMatch))) throw sequenceMismatch(sequence)
}

/** The error of an If-Match or If-None-Match that the sequence of the object does not meet. */
export function sequenceMismatch(sequence: number): RosterError {
  return new RosterError(
    'FAILED_PRECONDITION',
    'SEQUENCE_MISMATCH',
    'The object has another sequence than the caller wants.',
    { metadata: { sequence: String(sequence) } },
  )
}

// Store successes, and errors that left events. Any other error is derived again on retry.
function settle(
  { command, resolve, reject }: Pending,
  { error }: Decision<NewEvent, unknown>,
  outcome: Outcome<unknown, unknown>,
): Pick<Decided, 'stored' | 'answer'> {
  const { once } = command.call
  if (error) return { ...(once && { stored: { once, answer: { error } } }), answer: () => reject(error) }
  const response: unknown = command.respond ? command.respond(outcome) : outcome
  return {
    ...(once && { stored: { once, answer: { bytes: once.encode(response) } } }),
    answer: () => resolve(response),
  }
}

const nothing: Decision<NewEvent, unknown> = { events: [], answer: undefined }

function apply(
  { command, place }: Pending,
  decision: Decision<NewEvent, unknown>,
  before: Aggregate,
  vocabulary: Vocabulary,
  now: Date,
  mostEventBytes: number,
): { after: Aggregate; events: EventRow[] } {
  if (decision.events.length === 0) return { after: before, events: [] }
  const evolve = vocabulary.evolve[before.type]
  if (!evolve) throw new Error(`no function evolves a ${before.type}`)
  const organizationId =
    before.state === undefined && !before.unreadable ? decision.organizationId : before.organizationId
  if (organizationId === undefined) throw new Error(`a new ${before.type} needs an organization`)
  const events = decision.events.map(({ type, payload }, index) => ({
    aggregate_type: before.type,
    aggregate_id: before.id,
    sequence: before.sequence + index + 1,
    type,
    payload,
    organization_id: organizationId,
    creator: command.call.caller.userId,
    request_id: command.call.requestId,
    cause: command.call.cause,
    traceparent: place,
    created_at: now,
  }))
  const after = {
    ...before,
    organizationId,
    sequence: before.sequence + events.length,
    createdAt: before.state === undefined && !before.unreadable ? now : before.createdAt,
    changedAt: now,
    state: decision.events.reduce((state, event) => evolve(state, event, now), before.state),
    unreadable: undefined,
  }
  checkSizes(events, before.state, after.state, mostEventBytes)
  return { after, events }
}

function refuse(pending: Pending, decision: Decision<NewEvent, unknown>, { stale, taken }: Lost): boolean {
  const { command } = pending
  // Check for changed aggregates first: the change may be the one that took the key.
  if ([command.aggregate, ...keysOf(command)].some((key) => stale.has(keyText(key)))) return false
  const claim = decision?.claims?.find((candidate) => taken.has(claimText(candidate)))
  if (claim) pending.reject(claim.taken)
  return claim !== undefined
}
