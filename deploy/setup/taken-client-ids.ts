import type { Gateway } from './gateway.ts'
import { history } from './history.ts'
import type { Fields, Item } from './item.ts'

/** One sentence for each application, of these which are to be made, whose client id is or was that of something else. */
export async function takenClientIds(gateway: Gateway, missing: Item[], all: Item[]): Promise<string[]> {
  const made = missing.filter(({ kind }) => kind.aggregate === 'application')
  if (made.length === 0) return []
  const byClientId = Map.groupBy(made, clientIdOf)
  const ids = [...byClientId.keys()]
  const taken = new Map<string, string>()
  for (const [id, [first, ...others]] of byClientId)
    if (others.length > 0) taken.set(id, `more than one application of the file has it, the first at ${first!.at}`)
  for (const { kind, ids, what } of all)
    if (kind.aggregate === 'user' && byClientId.has(ids['userId']!))
      taken.set(ids['userId']!, `the ${what} of the file has it as its id`)
  const users = await history.first(
    gateway,
    'user',
    ids.filter((id) => id.length <= 200),
  )
  for (const [id, event] of users) taken.set(id, `a user of the organization ${organizationOf(event)} has it as its id`)
  for await (const event of history.applications(gateway)) {
    const { clientId, projectId } = (event['data'] ?? {}) as Record<string, string>
    if (clientId === undefined || !byClientId.has(clientId)) continue
    const where = `of the project ${projectId} of the organization ${organizationOf(event)}`
    taken.set(clientId, `the application ${String(event['aggregateId'])} ${where} has or had it`)
  }
  return [...taken].flatMap(([id, by]) =>
    byClientId.get(id)!.map(({ at, what }) => `${at}: the ${what} cannot have the client id ${id}: ${by}`),
  )
}

function clientIdOf({ ids, wanted }: Item): string {
  return (wanted['clientId'] as string | undefined) ?? ids['appId']!
}

function organizationOf(event: Fields): string {
  return String(event['organizationId'])
}
