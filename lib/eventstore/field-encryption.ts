import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { EventRow } from '../events/stored-event.ts'
import type { Aggregate } from './aggregate.ts'
import { claimText, type Decided, type Problem } from './batch.ts'
import type { UniqueKey } from './command.ts'
import type { Personal } from '../encryption/personal.ts'
import { encryptPayload, encryptState } from '../encryption/encrypted-fields.ts'
import type { SubjectKey } from '../encryption/subject-keys.ts'

/** Field encryption: encrypts what a batch stores of people. */
export interface FieldEncryption {
  /** The lists of `append_rest` about keys of people: those to store, and those to destroy. Ask for it first. */
  subjects(before: Iterable<Aggregate>, after: Iterable<Aggregate>): { subjects: object[]; forgotten: string[] }
  payload(event: EventRow): object
  state(aggregate: Aggregate): unknown
  /** Unique keys as they are stored. */
  keys<Keys extends Record<'releases' | 'claims' | 'held', UniqueKey[]>>(keys: Keys): Keys
  /** The problem, with unique keys as the decisions name them. */
  readProblem(problem: Problem, decided: Decided[]): Problem
}

/** A key that is stored nowhere: what it encrypts is erased at once. */
const lost = createSecretKey(randomBytes(32))

/** Field encryption for a batch that has loaded these keys of people. */
export function createFieldEncryption(personal: Personal, loaded: Map<string, KeyObject>): FieldEncryption {
  const { data } = personal
  const events = new Set([data.subject, ...data.events])
  const states = new Set([data.subject, ...data.states])
  const gone = new Set<string>()

  // A person without a key is erased.
  const keyOf = (id: string) => loaded.get(id) ?? lost

  function asStored<Key extends UniqueKey>(keys: Key[]): Key[] {
    return keys.map((key) => ({ ...key, key: personal.storedKey(key.kind, key.key) }))
  }

  return {
    subjects(before, after) {
      const created = [...before].filter(({ type, sequence }) => type === data.subject && sequence === 0)
      const made: SubjectKey[] = created.length === 0 ? [] : personal.make(created.length)
      for (const [index, { key }] of made.entries()) loaded.set(created[index]!.id, key)
      for (const { type, id, state } of after) if (type === data.subject && data.isErased(state)) gone.add(id)
      return {
        subjects: made.map(({ wrapped }, index) => ({ id: created[index]!.id, wrapped: wrapped.toString('base64') })),
        forgotten: [...gone],
      }
    },
    payload(event) {
      return events.has(event.aggregate_type) ? encryptPayload(keyOf(event.aggregate_id), event) : event.payload
    },
    state(aggregate) {
      // That a person is erased must be readable for ever.
      const isPlain = !states.has(aggregate.type) || (aggregate.type === data.subject && gone.has(aggregate.id))
      return isPlain ? aggregate.state : encryptState(keyOf(aggregate.id), aggregate)
    },
    keys: (keys) => ({
      ...keys,
      releases: asStored(keys.releases),
      claims: asStored(keys.claims),
      held: asStored(keys.held),
    }),
    readProblem(problem, decided) {
      const claims = decided.flatMap(({ decision, held }) => [...(decision.claims ?? []), ...(held ? [held] : [])])
      const named = new Map(asStored(claims).map((stored, index) => [claimText(stored), claims[index]!]))
      const read = (keys: UniqueKey[]) => keys.map((key) => named.get(claimText(key)) ?? key)
      return { ...problem, taken: read(problem.taken), freed: read(problem.freed) }
    },
  }
}
