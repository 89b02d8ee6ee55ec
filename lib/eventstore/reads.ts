import type { Aggregate, AggregateKey } from './aggregate.ts'

/** Keys under the names that a decision knows them by. A name may stand for several, or for none. */
export type Reads = Record<string, AggregateKey | AggregateKey[] | undefined>

/** The aggregates of these keys, under the same names. */
export type ReadBy<Keys> = { [Name in keyof Keys]: Named<Keys[Name]> }

type Named<Key> =
  Key extends AggregateKey<infer State>
    ? Aggregate<State>
    : Key extends AggregateKey<infer State>[]
      ? Aggregate<State>[]
      : undefined

/** All keys of a command's reads. */
export function keysOf({ reads = {} }: { reads?: Reads }): AggregateKey[] {
  return Object.values(reads).flatMap((keys) => keys ?? [])
}

/** The aggregates of a command's reads, as its decision gets them. */
export function namedBy({ reads = {} }: { reads?: Reads }, find: (key: AggregateKey) => Aggregate): ReadBy<Reads> {
  const found = Object.entries(reads).map(([name, keys]) => [
    name,
    Array.isArray(keys) ? keys.map(find) : keys && find(keys),
  ])
  return Object.fromEntries(found)
}
