import type { GiveInvitedRolesRequest, GiveInvitedRolesResponse } from '#gen/roster/grants/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { callOf, checkGrants, permitGrants } from './givable-roles.ts'
import type { Context } from '../../context.ts'
import { userGrantKey } from '../../holdings.ts'
import { addMember } from '../../members/add-member.ts'
import { findMember, updateMember } from '../../members/change-member.ts'
import { ownMemberships, permitByMemberships } from '../../members/own-roles.ts'
import { findProjectGrant } from '../../projects/find-project-grant.ts'
import { keyOfMember, type Member } from '../../vocabulary/member.ts'
import { keyOfProject, type Project } from '../../vocabulary/project.ts'
import type { UserGrant } from '../../vocabulary/user-grant.ts'
import { createUserGrant } from '../user-grant/add-user-grant.ts'
import { updateUserGrant } from '../user-grant/update-user-grant.ts'

/** Users calls it: once to ask, and once to give. What the inviter holds is read each time. */
export async function giveInvitedRoles(
  context: Context,
  request: GiveInvitedRolesRequest,
  { requestId, deadline, clientAddress, traceparent }: Call,
): Promise<GiveInvitedRolesResponse> {
  const { inviterId, organizationId, userId, grants, organizationRoles } = request
  const call = {
    ...(await callOf(context, inviterId, organizationId)),
    requestId,
    deadline,
    clientAddress,
    traceparent,
  }
  if (!holds(call.caller, 'user.write', organizationId)) throw permissionDenied()
  permitGrants(call.caller, organizationId, grants)
  await checkAll(context, request, call)
  if (userId === '') return {}
  for (const { projectId, roleKeys } of grants) await giveGrant(context, { userId, projectId, roleKeys }, call)
  if (organizationRoles.length > 0) await giveMembership(context, { userId, organizationRoles }, call)
  return {}
}

// Nothing is given where one of the roles is refused.
async function checkAll(
  context: Context,
  { organizationId, grants, organizationRoles }: GiveInvitedRolesRequest,
  call: Call,
): Promise<void> {
  const { store } = context
  await checkGrants(context, organizationId, grants)
  if (organizationRoles.length === 0) return
  const keys = await ownMemberships(context, { organizationId }, call)
  const own = await Promise.all(keys.map(({ id }) => store.load<Member>(keyOfMember(id).type, id)))
  const found = own.filter((member) => member !== undefined)
  permitByMemberships(found, 'org.member.write', organizationRoles)
}

async function giveGrant(
  context: Context,
  { userId, projectId, roleKeys }: { userId: string; projectId: string; roleKeys: string[] },
  call: Call,
): Promise<void> {
  const grantId = await findProjectGrant(context, projectId, call.organizationId)
  const asked = { userId, projectId, projectGrantId: '', roleKeys, userGrantId: undefined }
  try {
    await context.store.execute(createUserGrant(context, asked, call, grantId))
  } catch (error) {
    if (!isThere(error, 'USER_GRANT_EXISTS')) throw error
    const id = await findUserGrant(context, call.organizationId, { userId, projectId, projectGrantId: grantId })
    const present = await context.store.load<UserGrant>('user_grant', id)
    const all = [...new Set([...(present?.state.roleKeys ?? []), ...roleKeys])]
    await updateUserGrant(context, { userId, grantId: id, roleKeys: all, userGrantId: undefined }, call)
  }
}

// A grant of the own project names none of the project.
async function findUserGrant(
  { sql, store }: Context,
  organizationId: string,
  { userId, projectId, projectGrantId = '' }: { userId: string; projectId: string; projectGrantId: string | undefined },
): Promise<string> {
  const project = await store.load<Project>(keyOfProject(projectId).type, projectId)
  const owned = project?.organizationId === organizationId
  const wanted = { userId, projectId, projectGrantId: owned ? '' : projectGrantId, roleKeys: [] }
  const { kind, scope, key } = userGrantKey(organizationId, wanted)
  const [found] = await orUnavailable(sql<{ id: string }[]>`
    select aggregate_id as id from unique_keys where kind = ${kind} and scope = ${scope} and key = ${key}
  `)
  // It was taken away meanwhile.
  if (!found) throw new RosterError('ABORTED', 'CONFLICT', 'The grant changed at the same time.')
  return found.id
}

async function giveMembership(
  context: Context,
  { userId, organizationRoles }: { userId: string; organizationRoles: string[] },
  call: Call,
): Promise<void> {
  const { organizationId } = call
  const member = { place: { organizationId }, userId, permission: 'org.member.write' }
  try {
    await addMember(context, { ...member, roles: organizationRoles }, call)
  } catch (error) {
    if (!isThere(error, 'MEMBER_EXISTS')) throw error
    const present = await context.store.load<Member>('member', await findMember(context, { organizationId }, userId))
    const roles = [...new Set([...(present?.state.roles ?? []), ...organizationRoles])]
    await updateMember(context, { ...member, roles }, call)
  }
}

function isThere(error: unknown, reason: string): boolean {
  return error instanceof RosterError && error.reason === reason
}
