import { type Caller, holds } from './caller.ts'
import { type Method, methods } from './methods.ts'

/** The permissions of a caller that open a method in an organization, or in one project there. */
export function permissionsIn(caller: Caller, organizationId: string, projectId?: string): string[] {
  const opens = ({ access }: Method) =>
    holds(caller, access.permission) ||
    (access.scope !== 'instance' && holds(caller, access.permission, organizationId)) ||
    (access.project !== '' && holds(caller, access.permission, organizationId, projectId))
  const asking = [...methods.values()].filter(({ access }) => access.rule === 'permission')
  return [...new Set(asking.filter(opens).map(({ access }) => access.permission))].toSorted()
}
