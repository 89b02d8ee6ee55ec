import type { ListMembershipsRequest, ListMembershipsResponse } from '#gen/roster/grants/v1/internal_service'
import { type Fragment, orUnavailable, type Sql } from '#lib/database/database'
import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'
import { inOpenOrganization } from '../../members/in-open-organization.ts'
import { isClosed, type Organization } from '../../vocabulary/organization.ts'

export async function listMemberships(
  { sql, store }: Pick<Context, 'sql' | 'store'>,
  request: ListMembershipsRequest,
): Promise<ListMembershipsResponse> {
  const { organizationId: own, mostOthers } = request
  const [organization, rows] = await Promise.all([
    own === '' ? undefined : store.load<Organization>('organization', own),
    orUnavailable(select(sql, request)),
  ])
  const others = rows.filter(({ kind }) => kind === 'other')
  const listed = [...rows.filter(({ kind }) => kind === 'asked'), ...others.slice(0, mostOthers)]
  const whole = listed.filter(({ projectId }) => projectId === '')
  return {
    instanceRoles: whole.find(({ organizationId }) => organizationId === instance.id)?.roles ?? [],
    memberships: whole.filter(({ organizationId }) => organizationId !== instance.id),
    projectMemberships: listed.filter(({ projectId }) => projectId !== ''),
    organizationClosed: organization !== undefined && isClosed(organization.state),
    hasRole: rows.length > 0,
    moreOthers: others.length > mostOthers,
  }
}

interface Row {
  /** `any`: says only that the user has a role. */
  kind: 'asked' | 'other' | 'any'
  organizationId: string
  projectId: string
  roles: string[]
}

function select(sql: Sql, { userId, onlyIn, mostOthers, withInactive }: ListMembershipsRequest) {
  const places = [instance.id, ...onlyIn]
  return sql<Row[]>`
    select 'asked' as kind, ${columns(sql)} from memberships m
    where m.user_id = ${userId} and m.organization_id = any(${places}) and ${inOpenOrganization(sql, withInactive)}
    union all
    (
      select 'other', ${columns(sql)} from memberships m
      where m.user_id = ${userId} and m.project_id = '' and m.organization_id <> all(${places})
        and ${inOpenOrganization(sql, withInactive)}
      order by m.organization_id limit ${mostOthers === 0 ? 0 : mostOthers + 1}
    )
    union all
    (select 'any', '', '', '{}' from memberships m where m.user_id = ${userId} limit 1)
  `
}

function columns(sql: Sql): Fragment {
  return sql`m.organization_id as "organizationId", m.project_id as "projectId", m.roles`
}
