import type { ChainPlace } from '#lib/audit-log/page'
import { storingServices, type StoringService } from '../../deploy/provision.ts'
import type { Attempts } from './attempts.ts'
import { type Backlog, eventsAfter } from './backlog.ts'

/** The followers of each service by their names, each with the service whose events it follows. */
const followers: Record<StoringService, Record<string, StoringService>> = {
  users: {
    'identity-providers': 'idp',
    'organization-states': 'grants',
    'organization-removal': 'grants',
    'organization-sessions': 'grants',
    'verified-domains': 'grants',
    'domain-mails': 'grants',
    applications: 'grants',
    forgetting: 'users',
    'login-addresses': 'users',
  },
  grants: { 'user-removal': 'users', cascades: 'grants', 'provider-roles': 'idp' },
  idp: { 'organization-removal': 'grants' },
  notifier: { 'organization-removal': 'grants' },
}

interface Place extends ChainPlace {
  name: string
}

/** What of each service's events the notifier has still to take in, for webhooks. */
export async function lookAtIntake({ inService }: Attempts): Promise<Record<string, Backlog> | undefined> {
  const places = await inService(
    'notifier',
    (sql) => sql<Place[]>`select service as name, transaction_id::text as "transactionId", position::text from cursors`,
  )
  if (!places) return undefined
  return each(storingServices, (service) => {
    const place = places.find(({ name }) => name === service)
    // It takes in no old events. So it has no place before it has found a young one.
    return inService(service, async (sql) => (place ? eventsAfter(sql, place) : { waiting: 0, seconds: 0 }))
  })
}

/** How far the followers of each service are behind the events that they follow. */
export async function lookAtFollowers({
  inEach,
  inService,
}: Attempts): Promise<Partial<Record<StoringService, Record<string, Backlog>>>> {
  const places = await inEach(
    (sql) => sql<Place[]>`select name, transaction_id::text as "transactionId", position::text from followers`,
  )
  return each(Object.keys(places) as StoringService[], (service) =>
    each(Object.keys(followers[service]), (name) => {
      const place = places[service]!.find((one) => one.name === name) ?? { transactionId: '0', position: '0' }
      return inService(followers[service][name]!, (sql) => eventsAfter(sql, place))
    }),
  )
}

// By name. Leaves out what could not be looked at.
async function each<Name extends string, T>(
  names: readonly Name[],
  look: (name: Name) => Promise<T | undefined>,
): Promise<Record<string, T>> {
  const found = await Promise.all(names.map(async (name) => [name, await look(name)] as const))
  return Object.fromEntries(found.filter((one): one is [Name, Awaited<T>] => one[1] !== undefined))
}
