import type { Aggregate, AggregateKey, Read } from './aggregate.ts'
import type { Store } from './store.ts'

/** The aggregates of these keys, also those that do not exist. */
export type Found<Keys> = {
  [Name in keyof Keys]: Keys[Name] extends AggregateKey<infer State> ? Read<Aggregate<State>> : never
}

/** Loads the aggregates of keys, under the same names, in one statement. UNAVAILABLE STORE_UNAVAILABLE. */
export async function loadReads<Keys extends Record<string, AggregateKey>>(
  store: Pick<Store, 'read'>,
  keys: Keys,
): Promise<Found<Keys>> {
  const found = Object.entries(keys).map(async ([name, key]) => [name, await store.read(key)] as const)
  return Object.fromEntries(await Promise.all(found)) as Found<Keys>
}
