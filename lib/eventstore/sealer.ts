import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { EventRow } from '../events/stored-event.ts'
import type { Aggregate } from './aggregate.ts'
import { claimText, type Decided, type Problem } from './batch.ts'
import type { UniqueKey } from './command.ts'
import type { Personal } from './personal/personal.ts'
import type { Phase } from './personal/phase.ts'
import { sealPayload, sealState } from './personal/sealed-rows.ts'
import type { SubjectKey } from './personal/subject-keys.ts'

/** Seals what a batch stores of people. */
export interface Sealer {
  /** The lists of `append_rest` about keys of people: those to store, and those to destroy. Ask for it first. */
  subjects(before: Iterable<Aggregate>, after: Iterable<Aggregate>): { subjects: object[]; forgotten: string[] }
  payload(event: EventRow): object
  state(aggregate: Aggregate): unknown
  /** Unique keys in the forms in which they are stored. */
  keys<Keys extends Record<'releases' | 'claims' | 'held', UniqueKey[]>>(keys: Keys): Keys
  /** The problem, with unique keys as the decisions name them. Learns the phase. */
  readProblem(problem: Problem, decided: Decided[]): Problem
  /** What the database compares with its own phase. That one is the last: after it there is nothing to compare. */
  phase(): { phase?: Phase }
}

/** A key that nobody knows and nothing stores: what it seals is forgotten at once. */
export const lost = createSecretKey(randomBytes(32))

/** Seals for a batch that has loaded these keys of people. */
export function createSealer(personal: Personal, loaded: Map<string, KeyObject>): Sealer {
  const { data, phase } = personal
  const events = new Set([data.subject, ...data.events])
  const states = new Set([data.subject, ...data.states])
  const gone = new Set<string>()

  // Once everybody has a key, a person without one is forgotten.
  const keyOf = (id: string) => loaded.get(id) ?? (phase === 'on' ? lost : undefined)

  function inForms<Key extends UniqueKey>(keys: Key[]): Key[] {
    return keys.flatMap((key) =>
      personal.formsOf(key, phase).map((form) => ({
        ...key,
        key: form,
        ...(phase === 'begun' && form !== key.key && { twin: key.key }),
      })),
    )
  }

  return {
    subjects(before, after) {
      const created = [...before].filter(({ type, sequence }) => type === data.subject && sequence === 0)
      const made: SubjectKey[] = phase === 'off' || created.length === 0 ? [] : personal.make(created.length)
      for (const [index, { key }] of made.entries()) loaded.set(created[index]!.id, key)
      for (const { type, id, state } of after) if (type === data.subject && data.isForgotten(state)) gone.add(id)
      return {
        subjects: made.map(({ wrapped }, index) => ({ id: created[index]!.id, wrapped: wrapped.toString('base64') })),
        forgotten: [...gone],
      }
    },
    payload(event) {
      const key = events.has(event.aggregate_type) ? keyOf(event.aggregate_id) : undefined
      return key ? sealPayload(key, event) : event.payload
    },
    state(aggregate) {
      // That a person is forgotten must be readable for ever.
      const isPlain = !states.has(aggregate.type) || (aggregate.type === data.subject && gone.has(aggregate.id))
      const key = isPlain ? undefined : keyOf(aggregate.id)
      return key ? sealState(key, aggregate) : aggregate.state
    },
    keys: (keys) => ({
      ...keys,
      releases: inForms(keys.releases),
      claims: inForms(keys.claims),
      // A key that is held in one form alone is held.
      held: phase === 'begun' ? [] : inForms(keys.held),
    }),
    readProblem(problem, decided) {
      if (problem.phase) personal.phase = problem.phase
      const claims = decided.flatMap(({ decision, held }) => [...(decision.claims ?? []), ...(held ? [held] : [])])
      const named = new Map(inFormsByText(personal, claims))
      const read = (keys: UniqueKey[]) => keys.map((key) => named.get(claimText(key)) ?? key)
      return { ...problem, taken: read(problem.taken), freed: read(problem.freed) }
    },
    phase: () => (phase === 'on' ? {} : { phase }),
  }
}

function inFormsByText(personal: Personal, keys: UniqueKey[]): [string, UniqueKey][] {
  return keys.flatMap(({ kind, scope, key }) =>
    personal
      .formsToFind(kind, key)
      .map((form): [string, UniqueKey] => [claimText({ kind, scope, key: form }), { kind, scope, key }]),
  )
}
