/**
 * The type of the aggregates with what users knows of the deactivation and removal of an application or a project.
 * Their ids are `application-<id>` and `project-<id>`.
 */
export const closureType = 'user_closure'

/** The events of a closure. */
export type ClosureEvent = { type: 'noted'; payload: Closure }

/** Missing where the application or project was never closed. */
export interface Closure {
  state: 'active' | 'inactive' | 'removed'
  /** The sequence of the event of grants. */
  sequence: number
}

export function evolveClosure(_: unknown, { payload }: ClosureEvent): Closure {
  return payload
}
