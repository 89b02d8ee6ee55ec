import type { Gateway } from './gateway.ts'
import { history } from './history.ts'
import type { Item } from './item.ts'
import { namesIn, type Unknown } from './names.ts'

interface Result {
  /** What stays to be applied, and what is wrong with it. */
  kept: { items: Set<Item>; faults: string[] }
  warnings: string[]
}

/**
 * Leaves out what was removed in Roster, with all that is of it or names it: who removes a person, in Roster, stops
 * nothing else of the file.
 */
export async function passedOver(
  gateway: Gateway,
  all: Item[],
  removed: Item[],
  unknownAmong: (items: Item[]) => Promise<Unknown[]>,
): Promise<Result> {
  const warnings = removed.map(({ at, what }) => `${at}: the ${what} was removed, and stays so: delete these lines`)
  const gone = new Set(removed)
  // A parent comes before what is of it.
  for (const item of all) if (item.parent && gone.has(item.parent)) gone.add(item)
  const stay = all.filter((item) => !gone.has(item))
  const unknown = await unknownAmong(stay)
  const names = new Set([...gone].flatMap(namesIn))
  for (const [kind, some] of Map.groupBy(unknown, ({ name }) => name.split(' ')[0]!)) {
    const ids = new Set(some.map(({ name }) => idIn(name)))
    for (const id of await history.removed(gateway, kind, [...ids])) names.add(`${kind} ${id}`)
  }
  const [without, faulty] = [new Map<Item, string>(), [] as Unknown[]]
  for (const one of unknown) {
    if (names.has(one.name)) without.set(one.item, one.name)
    else faulty.push(one)
  }
  for (const [{ at }, name] of without)
    warnings.push(`${at}: the ${name} was removed, and stays so: delete these lines`)
  return {
    kept: {
      items: new Set(stay.filter((item) => !without.has(item))),
      faults: faulty.filter(({ item }) => !without.has(item)).map(({ text }) => text),
    },
    warnings,
  }
}

function idIn(name: string): string {
  return name.slice(name.indexOf(' ') + 1)
}
