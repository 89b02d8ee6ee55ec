import type { SetProviderRolesRequest, SetProviderRolesResponse } from '#gen/roster/grants/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../context.ts'
import { findProjectGrants } from '../../projects/find-project-grant.ts'
import { decideGift, type Gift, keyOfProviderGrant } from '../../provider-roles/provider-grant.ts'
import { removalTombstone } from '../../tombstones.ts'
import { keyOfProject } from '../../vocabulary/project.ts'
import { keyOfProjectGrant } from '../../vocabulary/project-grant.ts'
import { keyOfProviderTable } from '../../vocabulary/provider-table.ts'
import type { UserGrant } from '../../vocabulary/user-grant.ts'

/** Users calls it at each sign-in at a provider with a table. */
export async function setProviderRoles(
  context: Context,
  { idpId, organizationId, userId, rowIds, signedInAt }: SetProviderRolesRequest,
  call: Call,
): Promise<SetProviderRolesResponse> {
  const { sql, store, config, idp } = context
  const { requestId, deadline } = call
  // A replica of the former release does not know whose grant it is.
  if (await isBesideFormer(sql)) return {}
  const { sequence, roleRows, organizationId: owner } = await idp.lookupProvider({ idpId }, call)
  if (owner !== organizationId) return {}
  const rows = roleRows.filter(({ rowId }) => rowIds.includes(rowId))
  const former = await orUnavailable(sql<{ projectId: string }[]>`
    select project_id as "projectId" from user_grants
    where user_id = ${userId} and organization_id = ${organizationId} and idp_id = ${idpId}
  `)
  const projectIds = [...new Set([...former, ...rows].map(({ projectId }) => projectId))]
  const projectGrants = await findProjectGrants(context, projectIds, organizationId)
  for (const projectId of projectIds) {
    const ofProject = rows.filter((row) => row.projectId === projectId)
    const gift: Gift = { idpId, organizationId, userId, projectId, rows: ofProject, sequence, signedInAt: signedInAt! }
    const grantId = projectGrants.get(projectId)
    await store.execute({
      aggregate: keyOfProviderGrant(idpId, userId, projectId),
      // By the hand of the person who has signed in.
      call: { caller: { ...anonymous, userId }, requestId, deadline },
      reads: {
        tombstone: removalTombstone(userId),
        table: keyOfProviderTable(idpId),
        project: keyOfProject(projectId),
        projectGrant: grantId === undefined ? undefined : keyOfProjectGrant(grantId),
      },
      decide(grant: Aggregate<UserGrant>, _now, { tombstone, ...found }) {
        if (tombstone.state) return { events: [], answer: undefined }
        return decideGift(grant, gift, found, config.GRANT_MAX_ROLE_KEYS)
      },
      respond: () => undefined,
    })
  }
  return {}
}
