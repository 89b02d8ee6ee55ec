import { isDeepStrictEqual } from 'node:util'
import { checksOf, type Project, type ProjectChecks, type ProjectEvent } from '../vocabulary/project.ts'

/** The settings in requests; what is not set stays. */
export interface WantedChecks {
  projectRoleAssertion?: boolean | undefined
  projectRoleCheck?: boolean | undefined
  hasProjectCheck?: boolean | undefined
}

/** The event that a project has these settings from now on; none where it has them already. */
export function changedChecks(former: Pick<Project, 'checks'>, wanted: WantedChecks): ProjectEvent[] {
  const known = checksOf(former)
  const checks: ProjectChecks = {
    roleCheck: wanted.projectRoleCheck ?? known.roleCheck,
    hasProjectCheck: wanted.hasProjectCheck ?? known.hasProjectCheck,
    roleAssertion: wanted.projectRoleAssertion ?? known.roleAssertion,
  }
  return isDeepStrictEqual(checks, known) ? [] : [{ type: 'checks.changed', payload: checks }]
}
