import { RosterError } from '#lib/errors'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Context } from '../context.ts'
import { findProjectGrant } from './find-project-grant.ts'
import type { Project } from '../vocabulary/project.ts'

/** A project that the organization owns or was granted. NOT_FOUND PROJECT_NOT_FOUND for all others alike. */
export async function visibleProject(
  context: Context,
  projectId: string,
  organizationId: string,
): Promise<Existing<Project>> {
  const project = await context.store.load<Project>('project', projectId)
  if (
    !project ||
    project.state.removed ||
    (project.organizationId !== organizationId && !(await findProjectGrant(context, projectId, organizationId)))
  )
    throw new RosterError(
      'NOT_FOUND',
      'PROJECT_NOT_FOUND',
      'The organization neither owns such a project nor has a grant of it.',
    )
  return project
}
