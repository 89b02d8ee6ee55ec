import type { Context } from '../context.ts'
import { memberKey } from '../holdings.ts'
import { keyKinds } from '../vocabulary/key-kinds.ts'
import type { Cause } from './cause.ts'
import { type Found, inPortions, portion } from './in-portions.ts'
import { removedHolding } from './removed-holding.ts'
import { givenBefore } from './take-roles.ts'

/**
 * Takes their roles in the project from its members, of one organization or of all of them. A project that is granted
 * once more may have new members.
 */
export async function removeMembers(
  context: Context,
  cause: Cause,
  projectId: string,
  organizationId?: string,
): Promise<void> {
  const find = async (after: Found['place']): Promise<Found[]> => {
    for (let place = after; ;) {
      const members = await membersBehind(context, place, projectId, organizationId)
      if (members.length === 0) return []
      const found = await findBefore(context, cause, members, projectId)
      if (found.length > 0) return found
      const last = members.at(-1)!
      place = [last.organizationId, last.userId]
    }
  }
  await inPortions(context, cause, find, removedHolding)
}

interface Place {
  userId: string
  organizationId: string
}

function membersBehind(
  { sql }: Context,
  [organization, user]: Found['place'],
  projectId: string,
  organizationId: string | undefined,
): PromiseLike<Place[]> {
  return sql<Place[]>`
    select user_id as "userId", organization_id as "organizationId" from memberships
    where project_id = ${projectId} and project_id <> '' and (organization_id, user_id) > (${organization}, ${user})
      ${organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`}
    order by organization_id, user_id
    limit ${portion}
  `
}

/** Of these members, in their order, those that had their roles before the cause. */
function findBefore({ sql }: Context, cause: Cause, members: Place[], projectId: string): PromiseLike<Found[]> {
  const keys = members.map(({ organizationId, userId }) => memberKey(organizationId, { userId, projectId }).key)
  return sql<Found[]>`
    select a.type, a.id, a.sequence::int as sequence, array[m.scope, m.user_id] as place
    from unnest(
      ${members.map(({ organizationId }) => organizationId)}::text[], ${members.map(({ userId }) => userId)}::text[],
      ${keys}::text[]
    ) with ordinality m (scope, user_id, key, number)
    join unique_keys k on k.kind = ${keyKinds.member} and k.scope = m.scope and k.key = m.key
    join aggregates a on a.type = 'member' and a.id = k.aggregate_id
    where ${givenBefore(sql, cause)}
    order by m.number
  `
}
