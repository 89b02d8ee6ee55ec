import { history, idOf } from './history.ts'
import type { Gateway } from './gateway.ts'
import type { Fields, Item } from './item.ts'

/**
 * Of these things, which are to be made: one sentence for each whose id belongs to another one or did so, since no id is
 * given twice; and those that were there and were removed. The history knows it.
 */
export async function takenIds(
  gateway: Gateway,
  items: Item[],
): Promise<{ taken: Map<Item, string>; removed: Item[] }> {
  const byAggregate = Map.groupBy(
    items.filter((item) => idOf(item) !== undefined),
    ({ kind }) => kind.aggregate!,
  )
  const taken = new Map<Item, string>()
  const removed: Item[] = []
  for (const [aggregate, all] of byAggregate) {
    const ids = all.map((item) => idOf(item)!)
    const first = await history.first(gateway, aggregate, ids)
    const gone = await history.removed(gateway, aggregate, ids)
    for (const item of all) {
      const event = first.get(idOf(item)!)
      if (!event) continue
      if (gone.has(idOf(item)!) && isOwn(item, event)) removed.push(item)
      else taken.set(item, `${item.at}: ${sentence(item, event)}`)
    }
  }
  return { taken, removed }
}

// Of the place where the file has it.
function isOwn({ kind, organization }: Item, event: Fields): boolean {
  return kind.aggregate === 'organization' || event['organizationId'] === organization
}

function sentence({ kind }: Item, event: Fields): string {
  const thing = kind.aggregate!.replace('_', ' ')
  const a = /^[aou]/.test(thing) && !thing.startsWith('user') ? 'an' : 'a'
  const where = kind.aggregate === 'organization' ? '' : ` of the organization ${String(event['organizationId'])}`
  return `${a} ${thing}${where} has or had this id, and no id is given twice`
}
