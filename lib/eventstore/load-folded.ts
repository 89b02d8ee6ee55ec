import type { KeyObject } from 'node:crypto'
import { batchCalls } from '../batch-calls.ts'
import { orUnavailable, type Sql } from '../database/database.ts'
import type { Personal } from '../encryption/personal.ts'
import {
  type Aggregate,
  type AggregateKey,
  type Existing,
  keyText,
  loadAggregates,
  loading,
  type Read,
} from './aggregate.ts'
import { foldEvents } from './fold-events.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * Loads aggregates as `loadAggregates` does, and folds the events of those again that a release wrote with less state
 * than this one knows. Where they cannot be folded, the aggregate stays as it is stored, and outdated.
 */
export async function loadFolded(
  sql: Sql,
  keys: AggregateKey[],
  vocabulary: Vocabulary,
  personal?: Personal,
  subjects?: Map<string, KeyObject>,
): Promise<Read<Aggregate>[]> {
  const loaded = await loadAggregates(sql, keys, personal, subjects, vocabulary.folds)
  const outdated = loaded.filter((aggregate) => aggregate.outdated && aggregate.state !== undefined)
  if (outdated.length === 0) return loaded
  const folded = await foldEvents(sql, vocabulary, personal, outdated)
  for (const stored of new Set(outdated)) {
    const { aggregate, problem } = folded.get(keyText(stored))!
    if (problem !== undefined || aggregate.sequence !== stored.sequence) continue
    stored.state = aggregate.state
    stored.outdated = undefined
  }
  return loaded
}

/** The two ways to load one aggregate. */
export interface Loader {
  /** The aggregate as it is, or undefined where it does not exist. */
  load<State>(type: string, id: string): Promise<Read<Existing<State>> | undefined>
  /** The same, also one that does not exist. */
  read<State>(key: AggregateKey<State>): Promise<Read<Aggregate<State>>>
}

/**
 * Loads one aggregate. Loads that start at the same moment share one statement. UNAVAILABLE STORE_UNAVAILABLE without a
 * database. Throws `UnreadableState`.
 */
export function createLoader(sql: Sql, vocabulary: Vocabulary, personal?: Personal): Loader {
  const loadAll = batchCalls((keys: AggregateKey[]) => orUnavailable(loadFolded(sql, keys, vocabulary, personal)), {
    span: loading,
  })
  const read = async <State>(key: AggregateKey<State>) => {
    const aggregate = await loadAll(key)
    if (aggregate.unreadable) throw aggregate.unreadable
    return aggregate as Read<Aggregate<State>>
  }
  return {
    read,
    async load<State>(type: string, id: string) {
      const aggregate = await read<State>({ type, id })
      return aggregate.state === undefined ? undefined : (aggregate as Read<Existing<State>>)
    },
  }
}
