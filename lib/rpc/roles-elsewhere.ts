import { callersChanged, organizationOf } from '../events/hints.ts'
import { createCache } from '../cache.ts'
import type { Nats } from '../nats/connect-nats.ts'
import type { RolesThere } from './caller.ts'

/** A cache of what callers hold in organizations that they did not act for. */
export interface RolesElsewhere {
  find(userId: string, organizationId: string): Promise<RolesThere>
  stop(): void
}

/** Bytes, about. */
const capacity = 8 * 1024 * 1024
const maxAge = 30_000

/** Caches the answers of `ask` until grants announces a change. */
export function createRolesElsewhere(
  nats: Pick<Nats, 'connection' | 'onDisconnect'>,
  ask: (userId: string, organizationId: string) => Promise<RolesThere>,
): RolesElsewhere {
  interface Known extends RolesThere {
    userId: string
    organizationId: string
  }
  const cache = createCache<Known>({ capacity, maxAge, sizeOf: (known) => 500 + 4 * JSON.stringify(known).length })
  const subscription = nats.connection.subscribe(callersChanged, {
    callback: (_error, message) => {
      const changed = message.string()
      const closed = organizationOf(changed)
      cache.evict(({ userId, organizationId }) => (closed ? organizationId === closed : userId === changed))
    },
  })
  const unwatch = nats.onDisconnect(() => cache.clear())
  return {
    async find(userId, organizationId) {
      const key = JSON.stringify([userId, organizationId])
      const find = async () => ({ value: { userId, organizationId, ...(await ask(userId, organizationId)) } })
      return cache.get(key) ?? cache.obtain(key, find)
    },
    stop() {
      subscription.unsubscribe()
      unwatch()
    },
  }
}
