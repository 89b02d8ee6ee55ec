import type { AddProjectGrantRequest, AddProjectGrantResponse } from '#gen/roster/grants/v1/project_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import { permitChosenId, refuseTakenId } from '../../chosen-id.ts'
import { projectGrantKey } from '../../holdings.ts'
import { refuseInactive } from '../../organizations/active-organization.ts'
import type { Context } from '../../context.ts'
import { ownProject, refuseInactiveProject } from '../../projects/own-project.ts'
import { projectGrantKeys } from '../../projects/role-keys.ts'
import { keyOfOrganization, type Organization } from '../../vocabulary/organization.ts'
import { keyOfProject, type Project } from '../../vocabulary/project.ts'
import type { ProjectGrant, ProjectGrantEvent } from '../../vocabulary/project-grant.ts'

export const addProjectGrant = {
  permit({ grantId }: AddProjectGrantRequest, { caller }: Call): void {
    permitChosenId(caller, 'project.grant.write', grantId)
  },

  async handle(
    { store, config }: Context,
    request: AddProjectGrantRequest,
    call: Call,
  ): Promise<AddProjectGrantResponse> {
    return store.execute({
      aggregate: { type: 'project_grant', id: request.grantId ?? uuid() },
      creates: true,
      reads: {
        project: keyOfProject(request.projectId),
        granted: keyOfOrganization(request.grantedOrgId),
        owner: keyOfOrganization(call.organizationId),
      },
      call,
      decide(grant: Aggregate<ProjectGrant>, _now, { project, granted, owner }) {
        refuseInactive(owner)
        const decision = decide(project, granted, request, call.organizationId, config.GRANT_MAX_ROLE_KEYS)
        refuseTakenId(grant)
        return decision
      },
      respond: ({ after }) => ({ grantId: after.id, projectGrantId: after.id, details: details(after) }),
    })
  },
}

function decide(
  aggregate: Aggregate<Project>,
  granted: Aggregate<Organization>,
  request: AddProjectGrantRequest,
  organizationId: string,
  mostKeys: number,
): Decision<ProjectGrantEvent> {
  const project = ownProject(aggregate, organizationId)
  // A foreign organization that is deactivated and an unknown one get the same answer.
  if (!granted.state || granted.state.removed || granted.state.inactive || granted.id === organizationId)
    throw new RosterError(
      'FAILED_PRECONDITION',
      'ORGANIZATION_NOT_FOUND',
      'There is no such organization, or it owns the project.',
    )
  refuseInactiveProject(project)
  const roleKeys = projectGrantKeys(request.roleKeys, project, mostKeys)
  const taken = new RosterError(
    'ALREADY_EXISTS',
    'PROJECT_GRANT_EXISTS',
    'The project is already granted to the organization.',
  )
  return {
    organizationId,
    claims: [{ ...projectGrantKey(aggregate.id, granted.id), taken }],
    events: [{ type: 'added', payload: { projectId: aggregate.id, grantedOrganizationId: granted.id, roleKeys } }],
    answer: undefined,
  }
}
