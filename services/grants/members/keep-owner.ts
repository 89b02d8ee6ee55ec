import { codes, RosterError } from '#lib/errors'
import type { Aggregate, Existing } from '#lib/eventstore/aggregate'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import type { Context } from '../context.ts'
import type { Member } from '../vocabulary/member.ts'
import { findMember, type Guard } from './change-member.ts'
import { findInstanceOwners } from './instance-owners.ts'
import { onInstance } from './place.ts'

/** The user, or all users of the organization, who get the role of an owner of the instance or lose it. */
export type Owners = { $case: 'userId'; value: string } | { $case: 'organizationId'; value: string }

/**
 * Changes a member of the instance so that one active owner stays. `roles` are those afterwards, none for a removal.
 * FAILED_PRECONDITION LAST_IAM_OWNER; ABORTED CONFLICT where the roles changed since this began.
 */
export async function keepOwner<T>(
  context: Context,
  { userId, roles }: { userId: string; roles: string[] },
  call: Call,
  change: (guard: Guard) => Promise<T>,
): Promise<T> {
  const member = await context.store.load<Member>('member', await findMember(context, onInstance, userId))
  const owner: Owners = { $case: 'userId', value: userId }
  if (roles.includes(instance.administratorRole))
    return whileReleased(context, owner, 'gets', call, (again) => change({ again }))
  if (!member?.state.roles.includes(instance.administratorRole)) return change({ check: refuseOwner })
  return whileReleased(context, owner, 'loses', call, () => change({ check: refuseChanged(member) }))
}

/**
 * Changes grants while users counts none of these as an owner of the instance. Afterwards they count if the change
 * made them owners, or if it was refused. Where its outcome is open they do not count, so that the last owner stays in
 * any case. A change that comes too late must fail: whatever makes somebody an owner again stores an event first, and
 * whatever ends an owner is refused after that event.
 *
 * `change` learns whether an earlier one had an open outcome. FAILED_PRECONDITION LAST_IAM_OWNER; PERMISSION_DENIED
 * where one of the untouchable users is among them.
 */
export async function whileReleased<T>(
  { sql, users }: Context,
  owners: Owners,
  role: 'gets' | 'loses',
  call: Call,
  change: (again: boolean) => Promise<T>,
  untouchableIds: string[] = [],
): Promise<T> {
  const releaseId = uuid()
  const isNew = role === 'gets'
  const ownerIds = isNew ? [] : await findInstanceOwners(sql)
  const { releaseIds } = await users.releaseInstanceOwners({ owners, releaseId, isNew, ownerIds, untouchableIds }, call)
  let changed: T
  try {
    changed = await change(releaseIds.length > 1)
  } catch (error) {
    // The caller needs the first error. An owner who does not count is safe, and getting the role again mends it.
    if (isRefused(error)) await users.restoreInstanceOwners({ owners, releaseIds: [releaseId] }, call).catch(() => {})
    throw error
  }
  if (isNew) await users.restoreInstanceOwners({ owners, releaseIds }, call)
  return changed
}

/** Throws ABORTED CONFLICT where the aggregate is not as it was. */
export function refuseChanged(known: Existing<unknown>): (aggregate: Aggregate) => void {
  return ({ sequence }) => {
    if (sequence !== known.sequence) throw conflict()
  }
}

function refuseOwner({ state }: Aggregate<Member>): void {
  if (state?.roles.includes(instance.administratorRole)) throw conflict()
}

const refusals = new Set<number>([
  codes.PERMISSION_DENIED,
  codes.NOT_FOUND,
  codes.ALREADY_EXISTS,
  codes.FAILED_PRECONDITION,
  codes.ABORTED,
])

function isRefused(error: unknown): boolean {
  return error instanceof RosterError && refusals.has(error.code)
}

function conflict() {
  return new RosterError('ABORTED', 'CONFLICT', 'The object was changed at the same time.')
}
