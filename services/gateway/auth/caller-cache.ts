import { type Cache, createCache } from '#lib/cache'
import { callersChanged, organizationOf } from '#lib/events/hints'
import type { Nats } from '#lib/nats/connect-nats'
import type { Caller } from '#lib/rpc/caller'
import type { Holder, Home, Place } from './directory.ts'

/** The cache of callers: what the directory found. A revocation removes its entries. */
export interface CallerCache {
  /** By the hash of a token. */
  holders: Cache<Holder>
  /** By user. All tokens of a user share these. */
  homes: Cache<Home>
  /** By user and organization. */
  places: Cache<Place>
  /** By id. */
  organizations: Cache<string>
  /**
   * The caller of a token, who acts at a place. The same object for the same answers, so that it is signed once. Tokens
   * of one user share the lists of its roles.
   */
  callerOf(holder: Holder, home: Home, place?: Place): Caller
  stop(): void
}

/** Bytes that the answers of each kind may take, about. */
const capacity = 16 * 1024 * 1024

/** Keeps each answer for at most `maxAge` milliseconds. */
export function createCallerCache(nats: Nats, maxAge: number): CallerCache {
  const bounds = { capacity, sizeOf, maxAge }
  const holders = createCache<Holder>(bounds)
  const homes = createCache<Home>(bounds)
  const places = createCache<Place>(bounds)
  const organizations = createCache<string>({ capacity: 10_000, maxAge })
  const made = new WeakMap<Place, { home: Home; roles: Roles; callers: WeakMap<Holder, Caller> }>()

  const subscription = nats.connection.subscribe(callersChanged, {
    callback: (_error, message) => {
      const changed = message.string()
      const organizationId = organizationOf(changed)
      if (organizationId === undefined) {
        holders.evict(({ user, standsOn }) => user.userId === changed || standsOn.includes(changed))
        homes.evict(({ userId }) => userId === changed)
        places.evict(({ userId }) => userId === changed)
      } else {
        holders.evict(({ user, standsOn }) => user.organizationId === organizationId || standsOn.includes(changed))
        organizations.evict((known) => known === organizationId)
        homes.evict((home) => home.organizationId === organizationId)
        places.evict((place) => place.organizationId === organizationId)
      }
    },
  })
  const unwatch = nats.onDisconnect(() => {
    for (const cache of [holders, homes, places]) cache.clear()
  })

  return {
    holders,
    homes,
    places,
    organizations,
    callerOf(holder, home, place = home) {
      let known = made.get(place)
      if (known?.home !== home) made.set(place, (known = { home, roles: rolesOf(home, place), callers: new WeakMap() }))
      let caller = known.callers.get(holder)
      if (!caller) known.callers.set(holder, (caller = { ...holder.user, ...known.roles }))
      return caller
    },
    stop() {
      subscription.unsubscribe()
      unwatch()
    },
  }
}

// Objects take several times the text of their JSON.
function sizeOf(answer: object): number {
  return 500 + 4 * JSON.stringify(answer).length
}

type Roles = Pick<Caller, 'hasRole' | 'instanceRoles' | 'organizationRoles' | 'projectRoles'>

function rolesOf(home: Home, place: Place): Roles {
  const { hasRole, instanceRoles } = home
  const places = place === home ? [home] : [home, place]
  return {
    hasRole,
    instanceRoles,
    organizationRoles: Object.fromEntries(
      places.flatMap(({ organizationId, roles }) => (roles ? [[organizationId, roles]] : [])),
    ),
    projectRoles: Object.fromEntries(
      places.flatMap(({ organizationId, projects }) => (projects ? [[organizationId, projects]] : [])),
    ),
  }
}
