import { isDeepStrictEqual } from 'node:util'
import type {
  IDPRoleRow,
  SetOrganizationIDPRolesRequest,
  SetOrganizationIDPRolesResponse,
} from '#gen/roster/idp/v1/idp_claims'
import type { Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { changeIdp } from '../change-idp.ts'
import type { Context } from '../context.ts'
import { ownIdp } from '../own-idp.ts'
import { rowIdOf } from '../protocols/role-rows.ts'
import type { Idp } from '../vocabulary.ts'

export const setOrganizationIdpRoles = {
  check: (_context: Context, { rows }: SetOrganizationIDPRolesRequest): Violation[] => {
    const ids = rows.map(rowIdOf)
    return ids.flatMap((id, index) =>
      ids.indexOf(id) < index
        ? [{ field: `rows[${index}]`, description: 'has the claim, value and project of another' }]
        : [],
    )
  },

  async handle(
    context: Context,
    { idpId, rows }: SetOrganizationIDPRolesRequest,
    call: Call,
  ): Promise<SetOrganizationIDPRolesResponse> {
    ownIdp(await context.store.load<Idp>('idp', idpId), call)
    const { organizationId, caller, requestId, deadline } = call
    // Also of rows that stay: who writes the table stands for all of it.
    if (rows.length > 0)
      await context.grants.checkProviderRoles(
        { callerId: caller.userId, organizationId, grants: byProject(rows) },
        { requestId, deadline },
      )
    return changeIdp(context, idpId, call, ({ roleRows = [] }) =>
      isDeepStrictEqual(rows, roleRows)
        ? { events: [] }
        : { events: [{ type: 'roles.set', payload: { roleRows: rows } }] },
    )
  },
}

function byProject(rows: IDPRoleRow[]) {
  const keys = new Map<string, Set<string>>()
  for (const { projectId, roleKeys } of rows)
    keys.set(projectId, new Set([...(keys.get(projectId) ?? []), ...roleKeys]))
  return [...keys].map(([projectId, roleKeys]) => ({ projectId, roleKeys: [...roleKeys] }))
}
