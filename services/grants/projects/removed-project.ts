import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Project, ProjectEvent } from '../vocabulary/project.ts'

/** Removes a project for good, if it is still there. */
export function removedProject({ state }: Aggregate<Project>): Decision<ProjectEvent> {
  const events: ProjectEvent[] = !state || state.removed ? [] : [{ type: 'removed', payload: {} }]
  return { events, answer: undefined }
}
