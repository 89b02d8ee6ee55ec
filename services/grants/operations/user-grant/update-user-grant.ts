import type { UpdateUserGrantRequest, UpdateUserGrantResponse } from '#gen/roster/grants/v1/user_grant_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownUserGrant } from '../../own-user-grant.ts'
import { sameKeys, userGrantKeys } from '../../projects/role-keys.ts'
import { keyOfProject, type Project } from '../../vocabulary/project.ts'
import { keyOfProjectGrant, type ProjectGrant } from '../../vocabulary/project-grant.ts'
import type { UserGrant, UserGrantEvent } from '../../vocabulary/user-grant.ts'

export async function updateUserGrant(
  { store, config }: Context,
  request: UpdateUserGrantRequest,
  call: Call,
): Promise<UpdateUserGrantResponse> {
  const { userId, grantId } = request
  const grant = await store.load<UserGrant>('user_grant', grantId)
  // A grant never changes its project, nor the grant of that project.
  const { projectId, projectGrantId } = ownUserGrant(grant, userId, call.organizationId)
  return store.execute({
    aggregate: { type: 'user_grant', id: grantId },
    reads: {
      project: keyOfProject(projectId),
      projectGrant: projectGrantId === '' ? undefined : keyOfProjectGrant(projectGrantId),
    },
    call,
    decide: (aggregate: Aggregate<UserGrant>, _now, { project, projectGrant }) =>
      decide(
        ownUserGrant(aggregate, userId, call.organizationId),
        project,
        projectGrant,
        request.roleKeys,
        config.GRANT_MAX_ROLE_KEYS,
      ),
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function decide(
  grant: UserGrant,
  project: Aggregate<Project>,
  projectGrant: Aggregate<ProjectGrant> | undefined,
  asked: string[],
  mostKeys: number,
): Decision<UserGrantEvent> {
  if (grant.idpId !== undefined)
    throw new RosterError(
      'FAILED_PRECONDITION',
      'USER_GRANT_OF_PROVIDER',
      'The roles are given by the table of an identity provider.',
    )
  // A removed project, and a removed grant of one, have no roles to give.
  const granted = projectGrant && { ...projectGrant.state!, ...(projectGrant.state!.removed && { roleKeys: [] }) }
  const roleKeys = userGrantKeys(asked, project.state!, granted, mostKeys)
  if (sameKeys(roleKeys, grant.roleKeys)) return { events: [], answer: undefined }
  return { events: [{ type: 'changed', payload: { roleKeys } }], answer: undefined }
}
