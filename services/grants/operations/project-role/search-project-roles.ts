import type {
  ProjectRole as ShownRole,
  SearchProjectRolesRequest,
  SearchProjectRolesResponse,
} from '#gen/roster/grants/v1/project_service'
import type { Call } from '#lib/rpc/headers'
import { readCursor, writeCursor } from '#lib/search/cursor'
import { matchesText } from '#lib/search/matches-text'
import { defaultLimit } from '#lib/search/search'
import type { Context } from '../../context.ts'
import { ownProject } from '../../projects/own-project.ts'
import type { Project } from '../../vocabulary/project.ts'

/** Reads the roles in the project itself, which has all of them. Their order is that of the keys, by code units. */
export async function searchProjectRoles(
  { store, config }: Context,
  request: SearchProjectRolesRequest,
  call: Call,
): Promise<SearchProjectRolesResponse> {
  const { projectId, key, displayName, withTotal } = request
  const asked = { method: 'SearchProjectRoles', request, call }
  const [after] = readCursor(config.ROSTER_ENCRYPTION_KEY, asked) ?? []
  const project = ownProject(await store.load<Project>('project', projectId), call.organizationId)
  const roles = Object.entries(project.roles)
    .map(([roleKey, role]): ShownRole => ({ key: roleKey, roleKey, ...role }))
    .filter(
      (role) => (!key || matchesText(role.key, key)) && (!displayName || matchesText(role.displayName, displayName)),
    )
    .toSorted((left, right) => (left.key < right.key ? -1 : 1))
  const rest = after === undefined ? roles : roles.filter((role) => role.key > after)
  const page = rest.slice(0, request.limit || defaultLimit)
  return {
    roles: page,
    nextCursor: page.length < rest.length ? writeCursor(config.ROSTER_ENCRYPTION_KEY, asked, [page.at(-1)!.key]) : '',
    total: withTotal ? roles.length : undefined,
  }
}
