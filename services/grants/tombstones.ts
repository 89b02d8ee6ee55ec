import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { userNotFound } from './holdings.ts'
import type { RemovedUserEvent } from './vocabulary/removed-user.ts'

/**
 * Tombstones: one for each removed user. Every operation that gives a user something reads it. Otherwise a gift decided
 * before the removal could be stored after it.
 */
export function removalTombstone(userId: string): AggregateKey {
  return { type: 'removed_user', id: userId }
}

/** Refuses what would give something to a removed user: NOT_FOUND USER_NOT_FOUND where the tombstone exists. */
export function refuseRemoved(tombstone: Aggregate): void {
  if (tombstone.state) throw userNotFound()
}

export function storeTombstone({ state }: Aggregate, organizationId: string): Decision<RemovedUserEvent> {
  return { organizationId, events: state ? [] : [{ type: 'noted', payload: {} }], answer: undefined }
}
