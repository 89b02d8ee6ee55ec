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
  const { sql } = context
  await inPortions(
    context,
    cause,
    async () => {
      const keys = (await membersOf(context, projectId, organizationId)).map((member) =>
        memberKey(member.organizationId, { userId: member.userId, projectId }),
      )
      return sql<Found[]>`
        select a.type, a.id, a.sequence::int as sequence, array['', ''] as place
        from unnest(${keys.map(({ scope }) => scope)}::text[], ${keys.map(({ key }) => key)}::text[]) m (scope, key)
        join unique_keys k on k.kind = ${keyKinds.member} and k.scope = m.scope and k.key = m.key
        join aggregates a on a.type = 'member' and a.id = k.aggregate_id
        where ${givenBefore(sql, cause)}
        limit ${portion}
      `
    },
    removedHolding,
  )
}

function membersOf({ sql }: Context, projectId: string, organizationId: string | undefined) {
  return sql<{ userId: string; organizationId: string }[]>`
    select user_id as "userId", organization_id as "organizationId" from memberships
    where project_id = ${projectId} and project_id <> ''
      ${organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`}
  `
}
