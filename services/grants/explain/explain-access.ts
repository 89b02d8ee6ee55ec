import { type Ground, GroundFault, GroundKind, ObstacleKind } from '#gen/roster/grants/v1/permission_service'
import type { TraceUserStateResponse } from '#gen/roster/users/v1/internal_service'
import type { Sql } from '#lib/database/database'
import { instance } from '#lib/instance'
import { actsIn, anonymous, type Caller } from '#lib/rpc/caller'
import type { Asker } from '#lib/search/search-queue'
import type { Member } from '../vocabulary/member.ts'
import { isClosed, type Organization } from '../vocabulary/organization.ts'
import { type AccessQuestion, passes } from './access-question.ts'
import type { Explained } from './explained.ts'
import { findMembers } from './find-members.ts'
import { type Histories, type History, readHistories, statesOf } from './histories.ts'
import { showEvents } from './show-events.ts'
import type { Sight } from './sight.ts'
import type { Until } from './until.ts'
import { userObstacles } from './user-obstacles.ts'

/**
 * Explains whether a user may do something. The caller of the authorizer is made of the user's memberships as of the
 * moment, as the gateway makes it of those of now.
 */
export async function explainAccess(
  sql: Sql,
  asker: Asker,
  question: AccessQuestion,
  user: TraceUserStateResponse,
  narrow: Sight,
  until: Until | undefined,
): Promise<Explained> {
  const { ids, incomplete, sight } = await findMembers(sql, asker, question, user.organizationId, narrow, until)
  const read = await readMembers(
    sql,
    asker,
    { ids, organizationIds: [question.organizationId, user.organizationId] },
    until,
  )
  const { members, histories } = read
  const home = histories<Organization>('organization', user.organizationId)
  const acting = histories<Organization>('organization', question.organizationId)
  const isOpen = (id: string) => id === instance.id || isOpenState(histories<Organization>('organization', id).state)

  const roleless: Caller = { ...anonymous, userId: question.userId, organizationId: user.organizationId }
  const living = members.filter(({ state, organizationId }) => state && !state.removed && isOpen(organizationId))
  const caller = living.reduce((known, { organizationId, state }) => withRoles(known, organizationId, state!), roleless)

  const needsNothing = await passes(question, roleless)
  if (question.method?.access.rule === 'public')
    return { allowed: true, obstacles: [], grounds: [nothingNeeded], hidden: false, incomplete: false }
  const obstacles = userObstacles(user, home, sight)
  const exists = acting.state !== undefined && !acting.state.removed
  const isHome = question.organizationId === user.organizationId
  if (!isHome && !actsIn(caller, question.organizationId)) {
    if (caller.instanceRoles.length === 0) obstacles.push({ kind: ObstacleKind.OBSTACLE_KIND_NO_ROLE, events: [] })
    else if (!exists) obstacles.push({ kind: ObstacleKind.OBSTACLE_KIND_ORGANIZATION_UNKNOWN, events: [] })
  }
  const allowed = obstacles.length === 0 && (await passes(question, caller))
  const counting = question.permission === '' ? [] : members
  const grounds = await Promise.all(counting.map((member) => toGround(question, member, roleless, isOpen, sight)))
  const shown = grounds.filter((ground) => ground !== undefined)
  const isSeen = ({ organizationId, projectId }: Ground) => sight.seesMember(organizationId, projectId || undefined)
  return {
    allowed,
    obstacles,
    grounds: [...(needsNothing ? [nothingNeeded] : []), ...shown.filter(isSeen)],
    hidden: allowed && shown.some((ground) => ground.allows && !isSeen(ground)),
    incomplete,
  }
}

const nothingNeeded: Ground = {
  kind: GroundKind.GROUND_KIND_NO_PERMISSION_NEEDED,
  id: '',
  organizationId: '',
  projectId: '',
  projectGrantId: '',
  roles: [],
  allows: true,
  faults: [],
  events: [],
}

// The organizations of the memberships are known only after these.
async function readMembers(
  sql: Sql,
  asker: Asker,
  { ids, organizationIds }: { ids: string[]; organizationIds: string[] },
  until: Until | undefined,
): Promise<{ members: History<Member>[]; histories: Histories }> {
  const read = await readHistories(sql, asker, { keys: ids.map((id) => ({ type: 'member', id })), until })
  const members = ids.map((id) => read<Member>('member', id)).filter(({ steps }) => steps.length > 0)
  const all = [...organizationIds, ...members.map(({ organizationId }) => organizationId)]
  const keys = all.map((id) => ({ type: 'organization', id }))
  return { members, histories: await readHistories(sql, asker, { keys, until }) }
}

function isOpenState(organization: Organization | undefined): boolean {
  return organization !== undefined && !isClosed(organization)
}

function withRoles(caller: Caller, organizationId: string, { projectId, roles }: Member): Caller {
  if (organizationId === instance.id) return { ...caller, instanceRoles: roles }
  if (projectId === undefined)
    return { ...caller, organizationRoles: { ...caller.organizationRoles, [organizationId]: roles } }
  const there = { ...caller.projectRoles[organizationId], [projectId]: roles }
  return { ...caller, projectRoles: { ...caller.projectRoles, [organizationId]: there } }
}

/** A membership as it counts for the question; undefined where it has nothing to do with it. */
async function toGround(
  question: AccessQuestion,
  member: History<Member>,
  roleless: Caller,
  isOpen: (organizationId: string) => boolean,
  sight: Sight,
): Promise<Ground | undefined> {
  const { id, organizationId } = member
  const states = statesOf(member)
  const { projectId, roles, removed } = member.state!
  const isOfInstance = organizationId === instance.id
  const isElsewhere =
    !isOfInstance &&
    (organizationId !== question.organizationId || (projectId !== undefined && projectId !== question.projectId))
  // Wherever it is: would it be enough there?
  const there = {
    ...question,
    organizationId: isOfInstance ? question.organizationId : organizationId,
    projectId: projectId ?? question.projectId,
  }
  const enough = await thatAreEnough(there, organizationId, states, roleless)
  const gives = (state: Member) => !state.removed && enough.has(JSON.stringify(state.roles))
  if ((isElsewhere || removed) && !states.some(gives)) return undefined
  const faults: GroundFault[] = []
  if (removed) faults.push(GroundFault.GROUND_FAULT_REMOVED)
  if (!enough.has(JSON.stringify(roles))) faults.push(GroundFault.GROUND_FAULT_LACKS_ROLE)
  if (isElsewhere) faults.push(GroundFault.GROUND_FAULT_ELSEWHERE)
  if (!isOpen(organizationId)) faults.push(GroundFault.GROUND_FAULT_ORGANIZATION_CLOSED)
  return {
    kind: GroundKind.GROUND_KIND_MEMBERSHIP,
    id,
    organizationId,
    projectId: projectId ?? '',
    projectGrantId: '',
    roles,
    allows: faults.length === 0,
    faults,
    events: showEvents(member, gives, sight),
  }
}

/** Of the roles that a membership ever had, the lists that are enough by themselves. */
async function thatAreEnough(
  question: AccessQuestion,
  organizationId: string,
  states: Member[],
  roleless: Caller,
): Promise<ReadonlySet<string>> {
  const [first] = states
  const lists = new Map(states.map(({ roles }) => [JSON.stringify(roles), roles]))
  const enough = new Set<string>()
  for (const [text, roles] of lists)
    if (await passes({ ...question, own: false }, withRoles(roleless, organizationId, { ...first!, roles })))
      enough.add(text)
  return enough
}
