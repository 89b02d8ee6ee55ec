import type { Caller } from '#lib/rpc/caller'
import type { Holder, Home, Place } from './directory.ts'

type Roles = Pick<Caller, 'hasRole' | 'instanceRoles' | 'organizationRoles' | 'projectRoles'>

/** Makes the caller of a token, who acts at a place. */
export type TellCaller = (holder: Holder, home: Home, place?: Place) => Caller

/**
 * Gives the same object for the same answers, so that it is signed once. Tokens of one user share the lists of its
 * roles.
 */
export function createTeller(): TellCaller {
  const cache = new WeakMap<Place, { home: Home; roles: Roles; callers: WeakMap<Holder, Caller> }>()

  return (holder, home, place = home) => {
    let known = cache.get(place)
    if (known?.home !== home)
      cache.set(place, (known = { home, roles: tellRoles(home, place), callers: new WeakMap() }))
    let caller = known.callers.get(holder)
    if (!caller) known.callers.set(holder, (caller = { ...holder.user, ...known.roles }))
    return caller
  }
}

function tellRoles(home: Home, place: Place): Roles {
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
