import { evenUnreadable } from '#lib/eventstore/aggregate'
import type { Store } from '#lib/eventstore/store'
import type { FindOwner } from '#lib/rpc/authorize'
import type { Context } from './context.ts'
import { ownerOf } from './sessions/sessions.ts'

type Owner = { userId: string; organizationId: string }

// A user stays in its organization, so an owner that was found stays true for that database.
const knownBy = new WeakMap<Store, Map<string, Owner>>()
const mostKnown = 10_000

/** A user belongs to itself and to its organization. */
export const ownerOfUser: FindOwner<Context> = async ({ store }, id) => {
  let known = knownBy.get(store)
  if (!known) knownBy.set(store, (known = new Map()))
  const found = known.get(id)
  if (found) return found
  const user = await evenUnreadable(store.load('user', id))
  if (!user) return undefined
  const owner = { userId: id, organizationId: user.organizationId }
  if (known.size >= mostKnown) known.clear()
  known.set(id, owner)
  return owner
}

/** A session belongs to its user and to the user's organization. */
export const ownerOfSession: FindOwner<Context> = ownerOf
