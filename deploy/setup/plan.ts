import type { Gateway } from './gateway.ts'
import { readText } from '#lib/config/read-config'
import { each } from './each.ts'
import { type Call, Contradiction, type Environment, type Fields, type Item } from './item.ts'
import { passedOver } from './passed-over.ts'
import { takenNames, unknownNames } from './names.ts'
import { SetupFaults } from './read-file.ts'
import { takenClientIds } from './taken-client-ids.ts'
import { takenIds } from './taken-ids.ts'
import { sameValue } from './same-value.ts'

/** What applying the file would do to one thing. */
export interface Change {
  item: Item
  /** A sentence for people: `project shop: name: "Shop" becomes "Web shop"`. */
  text: string
  calls: Call[]
}

export interface Plan {
  changes: Change[]
  /** One sentence for each thing that is passed over, since it was removed in Roster. */
  warnings: string[]
}

/**
 * Compares the file with what is there. Nothing is written. Throws SetupFaults, with one line for each thing that
 * contradicts.
 */
export async function planOf(gateway: Gateway, items: Item[], env: Environment): Promise<Plan> {
  const faults: string[] = []
  const former = new Map<Item, Fields | undefined>()
  const read = async (item: Item) => {
    if (item.parent && !former.has(item.parent)) return
    // What is of a thing that is missing is missing itself.
    const isOfMissing = item.parent !== undefined && former.get(item.parent) === undefined
    try {
      former.set(item, isOfMissing ? undefined : await item.kind.read(gateway, item))
    } catch (error) {
      if (!(error instanceof Contradiction)) throw error
      faults.push(`${item.at}: ${error.message}`)
    }
  }
  const ranks = Map.groupBy(items, ({ kind }) => kind.rank)
  for (const rank of ranks.values()) await each(rank, read)
  const missing = items.filter((item) => former.has(item) && former.get(item) === undefined)
  const { taken, removed } = await takenIds(gateway, missing)
  const { kept, warnings } = await passedOver(gateway, items, removed, (some) => unknownNames(gateway, some, former))
  const made = missing.filter((item) => kept.items.has(item))
  faults.push(
    ...taken.values(),
    ...kept.faults,
    ...(await takenClientIds(
      gateway,
      made.filter((item) => !taken.has(item)),
      items,
    )),
    ...made.flatMap((item) => missingVariable(item, env)),
  )
  const changes: Change[] = []
  for (const item of items) {
    if (!former.has(item) || !kept.items.has(item)) continue
    try {
      const change = changeOf(item, former.get(item), env)
      if (change) changes.push(change)
    } catch (error) {
      if (!(error instanceof Contradiction)) throw error
      faults.push(`${item.at}: ${error.message}`)
    }
  }
  faults.push(...(await takenNames(gateway, changes, former)))
  if (faults.length > 0) throw new SetupFaults(faults.toSorted(byLine))
  return { changes, warnings: warnings.toSorted(byLine) }
}

const byLine = (left: string, right: string) => left.localeCompare(right, 'en', { numeric: true })

function changeOf(item: Item, former: Fields | undefined, env: Environment): Change | undefined {
  const { kind, what, wanted } = item
  if (former === undefined) return { item, text: `${what}: is made`, calls: [kind.add(item, env)] }
  const changed = Object.entries(wanted).filter(
    ([name, value]) => !kind.atFirst?.includes(name) && !sameValue(former[name], value),
  )
  if (changed.length === 0) return undefined
  const texts = changed.map(([name, value]) =>
    kind.personal ? `${name} is set` : `${name}: ${shown(former[name])} becomes ${shown(value)}`,
  )
  return { item, text: `${what}: ${texts.join('; ')}`, calls: kind.set(item, Object.fromEntries(changed), former) }
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}

function missingVariable({ at, wanted }: Item, env: Environment): string[] {
  const { env: name } = (wanted['passwordFrom'] ?? {}) as { env?: string }
  return name === undefined || readText(name, env) ? [] : [`${at}: the variable ${name} is not set`]
}
