import type { UpdateProjectRequest, UpdateProjectResponse } from '#gen/roster/grants/v1/project_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { refuseBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../context.ts'
import { changedChecks } from '../../projects/changed-checks.ts'
import { ownProject } from '../../projects/own-project.ts'
import type { Project, ProjectEvent } from '../../vocabulary/project.ts'

export async function updateProject(
  { sql, store }: Context,
  request: UpdateProjectRequest,
  call: Call,
): Promise<UpdateProjectResponse> {
  const { projectId, name } = request
  if (await wantsOthers(store, request)) await refuseBesideFormer(sql)
  return store.execute({
    aggregate: { type: 'project', id: projectId },
    call,
    decide(aggregate: Aggregate<Project>): Decision<ProjectEvent> {
      const project = ownProject(aggregate, call.organizationId)
      const keepsName = name === undefined || name === project.name
      return {
        events: [
          ...(keepsName ? [] : [{ type: 'changed', payload: { name } } as const]),
          ...changedChecks(project, request),
        ],
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}

// ZITADEL's names say all settings each time.
async function wantsOthers(store: Context['store'], request: UpdateProjectRequest): Promise<boolean> {
  const { projectRoleAssertion, projectRoleCheck, hasProjectCheck } = request
  if ([projectRoleAssertion, projectRoleCheck, hasProjectCheck].every((check) => check === undefined)) return false
  const project = await store.load<Project>('project', request.projectId)
  return project !== undefined && changedChecks(project.state, request).length > 0
}
