import {
  GroundFault,
  GroundKind,
  type Ground,
  type Obstacle,
  ObstacleKind,
} from '#gen/roster/grants/v1/permission_service'
import type { TraceUserStateResponse } from '#gen/roster/users/v1/internal_service'
import { RosterError } from '#lib/errors'
import type { Asker } from '#lib/search/search-queue'
import type { Context } from '../context.ts'
import { isClosed, type Organization } from '../vocabulary/organization.ts'
import type { Project } from '../vocabulary/project.ts'
import type { ProjectGrant } from '../vocabulary/project-grant.ts'
import type { UserGrant } from '../vocabulary/user-grant.ts'
import type { Explained } from './explained.ts'
import { findGrants, type RoleQuestion } from './find-grants.ts'
import { type Histories, type History, readHistories, statesOf } from './histories.ts'
import { showEvents } from './show-events.ts'
import { type Sight, sightAt } from './sight.ts'
import type { Until } from './until.ts'
import { userObstacles } from './user-obstacles.ts'

/**
 * Explains whether a user holds a role of a project. It counts as effective-roles.ts does, as of the moment: for the
 * owner of the project the grants of all organizations, for any other the grants of that one. NOT_FOUND
 * PROJECT_NOT_FOUND where the organization neither owns the project nor ever had a grant of it, and the caller may read
 * projects there.
 */
export async function explainRole(
  { sql }: Pick<Context, 'sql'>,
  asker: Asker,
  question: RoleQuestion,
  user: TraceUserStateResponse,
  narrow: Sight,
  until: Until | undefined,
): Promise<Explained> {
  const found = await findGrants(sql, asker, question)
  const project = found.owner === undefined ? undefined : { id: question.projectId, organizationId: found.owner }
  const isOwner = project?.organizationId === question.organizationId
  const mayRead = narrow.mayReadProject(question.organizationId, question.projectId)
  if (!project || (!isOwner && found.projectGrants.length === 0)) {
    if (mayRead) throw projectNotFound()
    return nothingOf({ sql }, asker, user, narrow, until)
  }
  const histories = await readAll({ sql }, asker, { question, found, project, user }, until)
  const sight = await sightAt(sql, narrow, [
    project,
    ...found.userGrants.map((id) => histories<UserGrant>('user_grant', id)),
    ...found.projectGrants.map((id) => ({
      organizationId: histories<ProjectGrant>('project_grant', id).state?.grantedOrganizationId ?? '',
    })),
  ])
  const seesAll = (isOwner && mayRead) || sight.mayRead(project.organizationId)
  const asked = { ...question, isOwner, seesAll, sight }

  const grants = found.userGrants.flatMap((id) => userGround(asked, histories<UserGrant>('user_grant', id), histories))
  const standing = grants.map(({ projectGrantId }) => projectGrantId).filter((id) => id !== '')
  const projectGrants = [...new Set([...standing, ...found.projectGrants])].flatMap((id) =>
    projectGround(asked, histories<ProjectGrant>('project_grant', id)),
  )
  // Any other caller learns of a role alone that is given to it now. Nothing stands on a removed grant either.
  const isGiven = [...grants, ...(mayRead ? projectGrants : [])].some(
    ({ roles, faults }) => roles.includes(question.roleKey) && !faults.includes(GroundFault.GROUND_FAULT_REMOVED),
  )
  const ofUser = userObstacles(user, histories<Organization>('organization', user.organizationId), sight)
  const ofProject = projectObstacles(asked, project, histories)
  const obstacles = [...ofUser, ...(seesAll || isGiven ? ofProject : [])]
  const allowed = ofUser.length + ofProject.length === 0 && grants.some(({ allows }) => allows)
  const grounds = [...grants, ...(seesAll || mayRead ? projectGrants : [])]
  return { allowed, obstacles, grounds, hidden: false, incomplete: found.incomplete }
}

interface Asked extends RoleQuestion {
  /** The acting organization owns the project. */
  isOwner: boolean
  /** The caller may read the project where it belongs. */
  seesAll: boolean
  sight: Sight
}

/** The same for every project that the user has nothing of, and may not read: so it learns of none. */
async function nothingOf(
  { sql }: Pick<Context, 'sql'>,
  asker: Asker,
  user: TraceUserStateResponse,
  sight: Sight,
  until: Until | undefined,
): Promise<Explained> {
  const keys = [{ type: 'organization', id: user.organizationId }]
  const histories = await readHistories(sql, asker, { keys, until })
  const obstacles = userObstacles(user, histories<Organization>('organization', user.organizationId), sight)
  return { allowed: false, obstacles, grounds: [], hidden: false, incomplete: false }
}

/** A project, and the organization that it belongs to. */
interface Owned {
  id: string
  organizationId: string
}

interface Known {
  question: RoleQuestion
  found: Awaited<ReturnType<typeof findGrants>>
  project: Owned
  user: TraceUserStateResponse
}

// The organizations and project grants of user grants are known only after these.
async function readAll(
  { sql }: Pick<Context, 'sql'>,
  asker: Asker,
  { question, found, project, user }: Known,
  until: Until | undefined,
): Promise<Histories> {
  const grants = found.userGrants.map((id) => ({ type: 'user_grant', id }))
  const first = await readHistories(sql, asker, { keys: grants, until })
  const known = grants.map(({ id }) => first<UserGrant>('user_grant', id)).filter(({ state }) => state !== undefined)
  const organizationIds = [
    project.organizationId,
    user.organizationId,
    ...known.map(({ organizationId }) => organizationId),
  ]
  const projectGrantIds = [...found.projectGrants, ...known.flatMap(({ state }) => state!.projectGrantId || [])]
  const keys = [
    { type: 'project', id: project.id },
    ...organizationIds.map((id) => ({ type: 'organization', id })),
    ...projectGrantIds.map((id) => ({ type: 'project_grant', id })),
  ]
  const others = await readHistories(sql, asker, { keys, roleKey: question.roleKey, until })
  return (type, id) => (type === 'user_grant' ? first(type, id) : others(type, id))
}

function projectObstacles(
  { roleKey, seesAll, sight }: Asked,
  { id, organizationId }: Owned,
  histories: Histories,
): Obstacle[] {
  const project = histories<Project>('project', id)
  const owner = histories<Organization>('organization', organizationId)
  const obstacles: Obstacle[] = []
  const isOpen = (state: Project) => !state.inactive && !state.removed
  const has = (state: Project) => Object.hasOwn(state.roles, roleKey)
  if (!project.state || !isOpen(project.state) || !owner.state || isClosed(owner.state)) {
    const events = [...showEvents(project, isOpen, sight), ...showEvents(owner, (state) => !isClosed(state), sight)]
    obstacles.push({ kind: ObstacleKind.OBSTACLE_KIND_PROJECT_CLOSED, events: seesAll ? events : [] })
  } else if (!has(project.state))
    obstacles.push({
      kind: ObstacleKind.OBSTACLE_KIND_ROLE_MISSING,
      events: seesAll ? showEvents(project, has, sight) : [],
    })
  return obstacles
}

function userGround(asked: Asked, grant: History<UserGrant>, histories: Histories): Ground[] {
  const { roleKey, isOwner, sight, organizationId: acting } = asked
  const { id, organizationId, state } = grant
  if (!state) return []
  const isElsewhere = !isOwner && organizationId !== acting
  if (isElsewhere && !sight.isSelf && !sight.mayRead(organizationId)) return []
  const { projectId, projectGrantId, roleKeys, inactive, removed } = state
  const gives = (then: UserGrant) => !then.removed && !then.inactive && then.roleKeys.includes(roleKey)
  if ((isElsewhere || removed) && !statesOf(grant).some(gives)) return []
  const giver = histories<Organization>('organization', organizationId)
  const standsOn = projectGrantId === '' ? undefined : histories<ProjectGrant>('project_grant', projectGrantId)
  const faults: GroundFault[] = []
  if (removed) faults.push(GroundFault.GROUND_FAULT_REMOVED)
  if (inactive) faults.push(GroundFault.GROUND_FAULT_INACTIVE)
  if (!roleKeys.includes(roleKey)) faults.push(GroundFault.GROUND_FAULT_LACKS_ROLE)
  if (isElsewhere) faults.push(GroundFault.GROUND_FAULT_ELSEWHERE)
  if (!giver.state || isClosed(giver.state)) faults.push(GroundFault.GROUND_FAULT_ORGANIZATION_CLOSED)
  if (standsOn && !(standsOn.state && givesRole(standsOn.state, roleKey)))
    faults.push(GroundFault.GROUND_FAULT_PROJECT_GRANT)
  return [
    {
      kind: GroundKind.GROUND_KIND_USER_GRANT,
      id,
      organizationId,
      projectId,
      projectGrantId,
      roles: roleKeys,
      allows: faults.length === 0,
      faults,
      events: showEvents(grant, gives, sight),
    },
  ]
}

function projectGround({ roleKey, isOwner, sight, organizationId }: Asked, grant: History<ProjectGrant>): Ground[] {
  const { id, state } = grant
  if (!state) return []
  const { projectId, grantedOrganizationId, roleKeys, inactive, removed } = state
  if (!isOwner && grantedOrganizationId !== organizationId && !sight.mayRead(grantedOrganizationId)) return []
  const gives = (then: ProjectGrant) => givesRole(then, roleKey)
  if (removed && !statesOf(grant).some(gives)) return []
  const faults: GroundFault[] = []
  if (removed) faults.push(GroundFault.GROUND_FAULT_REMOVED)
  if (inactive) faults.push(GroundFault.GROUND_FAULT_INACTIVE)
  if (!roleKeys.includes(roleKey)) faults.push(GroundFault.GROUND_FAULT_LACKS_ROLE)
  return [
    {
      kind: GroundKind.GROUND_KIND_PROJECT_GRANT,
      id,
      organizationId: grant.organizationId,
      projectId,
      projectGrantId: '',
      roles: roleKeys,
      allows: faults.length === 0,
      faults,
      events: showEvents(grant, gives, sight),
    },
  ]
}

function givesRole({ removed, inactive, roleKeys }: ProjectGrant, roleKey: string): boolean {
  return !removed && !inactive && roleKeys.includes(roleKey)
}

function projectNotFound(): RosterError {
  return new RosterError(
    'NOT_FOUND',
    'PROJECT_NOT_FOUND',
    'The organization neither owns such a project nor had a grant of it.',
  )
}
