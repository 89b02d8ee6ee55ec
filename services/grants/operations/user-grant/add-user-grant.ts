import type { AddUserGrantRequest, AddUserGrantResponse } from '#gen/roster/grants/v1/user_grant_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Command, Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import { permitChosenId, refuseTakenId } from '../../chosen-id.ts'
import { refuseInactive } from '../../organizations/active-organization.ts'
import type { Context } from '../../context.ts'
import { findProjectGrant } from '../../projects/find-project-grant.ts'
import { userGrantKey } from '../../holdings.ts'
import { refuseRemoved, removalTombstone } from '../../tombstones.ts'
import { refuseInactiveProject } from '../../projects/own-project.ts'
import { userGrantKeys } from '../../projects/role-keys.ts'
import type { NewUserGrant, UserGrant, UserGrantEvent } from '../../vocabulary/user-grant.ts'
import { keyOfOrganization } from '../../vocabulary/organization.ts'
import { keyOfProject, type Project } from '../../vocabulary/project.ts'
import { keyOfProjectGrant, type ProjectGrant } from '../../vocabulary/project-grant.ts'

export const addUserGrant = {
  permit({ userGrantId }: AddUserGrantRequest, { caller }: Call): void {
    permitChosenId(caller, 'user.grant.write', userGrantId)
  },

  async handle(context: Context, request: AddUserGrantRequest, call: Call): Promise<AddUserGrantResponse> {
    await context.users.lookupUser({ userId: request.userId }, call)
    const grantId = await findProjectGrant(context, request.projectId, call.organizationId)
    return context.store.execute(createUserGrant(context, request, call, grantId))
  },
}

/** The command that creates the grant. `grantId`: the grant of the project to the acting organization. */
export function createUserGrant(
  { config }: Context,
  request: AddUserGrantRequest,
  call: Call,
  grantId: string | undefined,
): Command<UserGrant, UserGrantEvent, void, AddUserGrantResponse, ReturnType<typeof keysFor>> {
  return {
    aggregate: { type: 'user_grant', id: request.userGrantId ?? uuid() },
    creates: true,
    reads: keysFor(request, call.organizationId, grantId),
    call,
    decide(userGrant, _now, { tombstone, organization, project, grant }) {
      refuseRemoved(tombstone)
      refuseInactive(organization)
      const decision = decideUserGrant(project, grant, request, call.organizationId, config.GRANT_MAX_ROLE_KEYS)
      refuseTakenId(userGrant)
      return decision
    },
    respond: ({ after }) => ({ userGrantId: after.id, details: details(after) }),
  }
}

export function keysFor(
  { userId, projectId }: AddUserGrantRequest,
  organizationId: string,
  grantId: string | undefined,
) {
  return {
    tombstone: removalTombstone(userId),
    organization: keyOfOrganization(organizationId),
    project: keyOfProject(projectId),
    grant: grantId === undefined ? undefined : keyOfProjectGrant(grantId),
  }
}

/** The decision to add a grant; the errors of AddUserGrant. */
export function decideUserGrant(
  project: Aggregate<Project>,
  grant: Aggregate<ProjectGrant> | undefined,
  request: AddUserGrantRequest,
  organizationId: string,
  mostKeys: number,
): Decision<UserGrantEvent> {
  const owned = project.organizationId === organizationId
  const isThere = project.state && !project.state.removed
  if (!isThere || !(owned || (grant?.state && !grant.state.removed)))
    throw new RosterError(
      'FAILED_PRECONDITION',
      'PROJECT_NOT_FOUND',
      'The organization does not own such a project, and has no grant of one.',
    )
  const projectGrantId = owned ? '' : grant!.id
  if (request.projectGrantId !== '' && request.projectGrantId !== projectGrantId)
    throw new RosterError(
      'FAILED_PRECONDITION',
      'PROJECT_GRANT_NOT_FOUND',
      'This project grant does not give the project to the organization.',
    )
  refuseInactiveProject(project.state!)
  if (!owned && grant!.state!.inactive)
    throw new RosterError('FAILED_PRECONDITION', 'PROJECT_GRANT_INACTIVE', 'The grant of the project is inactive.')
  const roleKeys = userGrantKeys(request.roleKeys, project.state!, owned ? undefined : grant!.state, mostKeys)
  const { userId, projectId } = request
  const added: NewUserGrant = { userId, projectId, projectGrantId, roleKeys }
  const taken = new RosterError('ALREADY_EXISTS', 'USER_GRANT_EXISTS', 'The user has a grant for this project already.')
  return {
    organizationId,
    claims: [{ ...userGrantKey(organizationId, added), taken }],
    events: [{ type: 'added', payload: added }],
    answer: undefined,
  }
}
