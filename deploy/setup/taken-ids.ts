import type { Gateway } from './gateway.ts'
import type { Fields, Item } from './item.ts'

/**
 * One sentence for each of these things, which are to be made, whose id belongs to another one or did so: no id is given
 * twice. The history knows it.
 */
export async function takenIds(gateway: Gateway, items: Item[]): Promise<string[]> {
  const byAggregate = Map.groupBy(
    items.filter((item) => idOf(item) !== undefined),
    ({ kind }) => kind.aggregate!,
  )
  const faults: string[] = []
  for (const [aggregate, all] of byAggregate)
    for (let start = 0; start < all.length; start += 100) {
      const some = all.slice(start, start + 100)
      const first = await firstEvents(
        gateway,
        aggregate,
        some.map((item) => idOf(item)!),
      )
      for (const item of some) {
        const event = first.get(idOf(item)!)
        if (event) faults.push(`${item.at}: ${sentence(item, event)}`)
      }
    }
  return faults
}

function idOf({ kind, ids }: Item): string | undefined {
  switch (kind.aggregate) {
    case 'organization':
      return ids['orgId']
    case 'project':
      return ids['projectId']
    case 'application':
      return ids['appId']
    case 'user':
      return ids['userId']
    case 'project_grant':
      return ids['grantId']
    case 'user_grant':
      return ids['userGrantId']
    default:
      return undefined
  }
}

async function firstEvents(gateway: Gateway, aggregate: string, ids: string[]): Promise<Map<string, Fields>> {
  const found = new Map<string, Fields>()
  const filter = { aggregateTypes: [aggregate], aggregateIds: ids }
  for (let cursor = ''; ;) {
    const answer = (await gateway.ask('notifier.v1.EventService/SearchEvents', { filter, cursor, limit: 1000 })) ?? {}
    for (const event of (answer['events'] ?? []) as Fields[]) {
      const id = event['aggregateId'] as string
      if (!found.has(id)) found.set(id, event)
    }
    cursor = answer['cursor'] as string
    if (answer['endReached'] === true || found.size === ids.length) return found
  }
}

function sentence({ kind }: Item, event: Fields): string {
  const thing = kind.aggregate!.replace('_', ' ')
  const a = /^[aou]/.test(thing) && !thing.startsWith('user') ? 'an' : 'a'
  const where = kind.aggregate === 'organization' ? '' : ` of the organization ${String(event['organizationId'])}`
  return `${a} ${thing}${where} has or had this id, and no id is given twice`
}
