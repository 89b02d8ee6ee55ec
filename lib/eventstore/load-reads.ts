import type { AggregateKey, Existing, Read } from './aggregate.ts'
import type { Store } from './store.ts'

/** The aggregates of these keys, undefined where they do not exist. */
export type Found<Keys> = {
  [Name in keyof Keys]: Keys[Name] extends AggregateKey<infer State> ? Read<Existing<State>> | undefined : never
}

/** Loads the aggregates of keys, under the same names, in one statement. UNAVAILABLE STORE_UNAVAILABLE. */
export async function loadReads<Keys extends Record<string, AggregateKey>>(
  store: Pick<Store, 'load'>,
  keys: Keys,
): Promise<Found<Keys>> {
  const found = Object.entries(keys).map(async ([name, { type, id }]) => [name, await store.load(type, id)] as const)
  return Object.fromEntries(await Promise.all(found)) as Found<Keys>
}
