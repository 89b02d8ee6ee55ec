import { orUnavailable, type Sql } from '#lib/database/database'
import { instance } from '#lib/instance'
import { holds, withRoles } from '#lib/rpc/caller'
import { hasAllRolesIn } from '#lib/rpc/caller-in'
import type { Call } from '#lib/rpc/headers'
import { rolesThere } from '../../roles-there.ts'
import { inOpenOrganization } from '../members/in-open-organization.ts'

/** What a caller may see of an explanation. */
export interface Sight {
  asker: Asker
  userId: string
  /** The caller asks about itself. */
  isSelf: boolean
  /** Whether the caller may read an organization, or the instance by its id. */
  mayRead(organizationId: string): boolean
  /** Whether the caller may read the members there. Everybody may read its own memberships. */
  seesMember(organizationId: string, projectId: string | undefined): boolean
  /** Whether the caller may read projects of the organization, or granted to it, or this one of them. */
  mayReadProject(organizationId: string, projectId: string): boolean
}

/** Who asks for an explanation, and the organization that it acts for. */
type Asker = Pick<Call, 'caller' | 'organizationId'>

/** The sight of a caller that asks about a user, as far as its roles are known. */
export function sightOf(asker: Asker, userId: string): Sight {
  const { caller } = asker
  const isSelf = caller.userId === userId
  return {
    asker,
    userId,
    isSelf,
    mayRead: (organizationId) =>
      organizationId === instance.id ? holds(caller, 'iam.member.read') : holds(caller, 'org.read', organizationId),
    seesMember(organizationId, projectId) {
      if (isSelf) return true
      if (organizationId === instance.id) return holds(caller, 'iam.member.read')
      if (projectId === undefined) return holds(caller, 'org.member.read', organizationId)
      return holds(caller, 'project.member.read', organizationId, projectId)
    },
    mayReadProject: (organizationId, projectId) => holds(caller, 'project.read', organizationId, projectId),
  }
}

/** A place that an explanation is about: an organization, or a project there. */
interface Seen {
  organizationId: string
  projectId?: string | null
}

/** The same sight, which also knows what the caller may see at these places. */
export async function sightAt(sql: Sql, sight: Sight, places: Seen[]): Promise<Sight> {
  const { asker, userId } = sight
  const { caller } = asker
  const unknown = places.filter(({ organizationId }) => !hasAllRolesIn(asker, organizationId))
  if (unknown.length === 0) return sight
  const asked = unknown.flatMap(({ organizationId, projectId }) => [
    [organizationId, ''],
    ...(projectId ? [[organizationId, projectId]] : []),
  ])
  const rows = await orUnavailable(sql<{ organizationId: string; projectId: string; roles: string[] }[]>`
    select organization_id as "organizationId", project_id as "projectId", roles from memberships m
    where user_id = ${caller.userId} and ${inOpenOrganization(sql)}
      and (organization_id, project_id) in (
        select * from unnest(${asked.map(([id]) => id!)}::text[], ${asked.map(([, id]) => id!)}::text[])
      )
  `)
  const held = {
    memberships: rows.filter(({ projectId }) => projectId === ''),
    projectMemberships: rows.filter(({ projectId }) => projectId !== ''),
  }
  const organizationIds = new Set(unknown.map(({ organizationId }) => organizationId))
  const wiser = [...organizationIds].reduce((before, id) => withRoles(before, id, rolesThere(held, id)), caller)
  return sightOf({ ...asker, caller: wiser }, userId)
}
