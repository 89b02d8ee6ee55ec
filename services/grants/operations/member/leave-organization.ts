import type { LeaveOrganizationRequest, LeaveOrganizationResponse } from '#gen/roster/grants/v1/organization_service'
import type { AggregateKey } from '#lib/eventstore/aggregate'
import { orUnavailable } from '#lib/database/database'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { portion } from '../../cascades/in-portions.ts'
import { removedHolding } from '../../cascades/removed-holding.ts'
import type { Context } from '../../context.ts'
import { memberKey } from '../../holdings.ts'
import { memberNotFound } from '../../members/change-member.ts'
import { keyKinds } from '../../vocabulary/key-kinds.ts'

export async function leaveOrganization(
  context: Context,
  { orgId }: LeaveOrganizationRequest,
  call: Call,
): Promise<LeaveOrganizationResponse> {
  const { once: _, ...withoutKey } = call
  for (let ended = 0; ;) {
    const held = await findHeld(context, orgId, call.caller.userId)
    if (held.length + ended === 0) throw memberNotFound()
    const isLast = held.length < portion
    const answer = await context.store.executeAll({
      commands: held.map((aggregate) => ({ aggregate, decide: removedHolding })),
      // The key stands for the whole.
      call: isLast ? call : withoutKey,
      lane: call.organizationId,
      respond: () => ({ ended: ended + held.length }),
    })
    if (isLast) return answer
    ;({ ended } = answer)
  }
}

async function findHeld({ sql }: Context, organizationId: string, userId: string): Promise<AggregateKey[]> {
  const places = await orUnavailable(sql<{ projectId: string }[]>`
    select project_id as "projectId" from memberships
    where user_id = ${userId} and organization_id = ${organizationId} and organization_id <> ${instance.id}
    limit ${portion}
  `)
  const keys = places.map(
    ({ projectId }) => memberKey(organizationId, { userId, ...(projectId !== '' && { projectId }) }).key,
  )
  return orUnavailable(sql<AggregateKey[]>`
    select 'member' as type, aggregate_id as id from unique_keys
    where kind = ${keyKinds.member} and scope = ${organizationId} and key = any(${keys})
  `)
}
