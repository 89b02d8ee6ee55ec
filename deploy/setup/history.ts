import type { Gateway } from './gateway.ts'
import type { Fields, Item } from './item.ts'

/** The id of its aggregate, where the file has it. */
export function idOf({ kind, ids }: Item): string | undefined {
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

/** What the events of all organizations tell of ids. */
export const history = {
  /** The first event of each of these. */
  async first(gateway: Gateway, aggregate: string, ids: string[]): Promise<Map<string, Fields>> {
    const found = new Map<string, Fields>()
    for (const some of portionsOf(ids)) {
      const wanted = found.size + new Set(some).size
      for await (const event of eventsOf(gateway, { aggregateTypes: [aggregate], aggregateIds: some })) {
        const id = event['aggregateId'] as string
        if (!found.has(id)) found.set(id, event)
        if (found.size === wanted) break
      }
    }
    return found
  },

  /** Those of these that were removed. One that is there may have been restored. */
  async removed(gateway: Gateway, aggregate: string, ids: string[]): Promise<Set<string>> {
    const found = new Set<string>()
    const eventTypes = [`${aggregate}.removed`]
    for (const some of portionsOf(ids))
      for await (const { aggregateId } of eventsOf(gateway, { eventTypes, aggregateIds: some }))
        found.add(aggregateId as string)
    return found
  },

  /** The creation of each application that there is or was. */
  applications: (gateway: Gateway) => eventsOf(gateway, { eventTypes: ['application.added'] }),
}

function portionsOf(ids: string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / 100) }, (_, index) => ids.slice(index * 100, index * 100 + 100))
}

async function* eventsOf(gateway: Gateway, filter: Fields): AsyncGenerator<Fields> {
  for (let cursor = ''; ;) {
    const answer = (await gateway.ask('notifier.v1.EventService/SearchEvents', { filter, cursor, limit: 1000 })) ?? {}
    yield* (answer['events'] ?? []) as Fields[]
    cursor = answer['cursor'] as string
    if (answer['endReached'] === true) return
  }
}
