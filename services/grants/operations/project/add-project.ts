import type { AddProjectRequest, AddProjectResponse } from '#gen/roster/grants/v1/project_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { refuseBesideFormer } from '#lib/schema/releases'
import { v7 as uuid } from 'uuid'
import { permitChosenId, refuseTakenId } from '../../chosen-id.ts'
import { changedChecks } from '../../projects/changed-checks.ts'
import { refuseInactive } from '../../organizations/active-organization.ts'
import type { Context } from '../../context.ts'
import { keyOfOrganization } from '../../vocabulary/organization.ts'
import type { Project, ProjectEvent } from '../../vocabulary/project.ts'

export const addProject = {
  permit({ projectId }: AddProjectRequest, { caller }: Call): void {
    permitChosenId(caller, 'project.write', projectId)
  },

  async handle({ sql, store }: Context, request: AddProjectRequest, call: Call): Promise<AddProjectResponse> {
    const { name, projectId } = request
    const checks = changedChecks({}, request)
    if (checks.length > 0) await refuseBesideFormer(sql)
    return store.execute({
      aggregate: { type: 'project', id: projectId ?? uuid() },
      creates: true,
      reads: { organization: keyOfOrganization(call.organizationId) },
      call,
      decide(project: Aggregate<Project>, _now, { organization }): Decision<ProjectEvent> {
        refuseInactive(organization)
        refuseTakenId(project)
        return {
          organizationId: call.organizationId,
          events: [{ type: 'added', payload: { name } }, ...checks],
          answer: undefined,
        }
      },
      respond: ({ after }) => ({ id: after.id, projectId: after.id, details: details(after) }),
    })
  },
}
