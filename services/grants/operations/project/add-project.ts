import type { AddProjectRequest, AddProjectResponse } from '#gen/roster/grants/v1/project_service'
import { details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import { refuseInactive } from '../../organizations/active-organization.ts'
import type { Context } from '../../context.ts'
import type { ProjectEvent } from '../../vocabulary/project.ts'

export async function addProject(
  { store }: Context,
  { name }: AddProjectRequest,
  call: Call,
): Promise<AddProjectResponse> {
  return store.execute({
    aggregate: { type: 'project', id: uuid() },
    reads: [{ type: 'organization', id: call.organizationId }],
    call,
    decide(_, _now, [organization]): Decision<ProjectEvent> {
      refuseInactive(organization!)
      return { organizationId: call.organizationId, events: [{ type: 'added', payload: { name } }], answer: undefined }
    },
    respond: ({ after }) => ({ id: after.id, details: details(after) }),
  })
}
