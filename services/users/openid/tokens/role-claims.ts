import type { OrganizationRoles } from '#gen/roster/users/v1/oauth_service'
import type { ServiceCall } from '#lib/rpc/call'
import type { Context } from '../../context.ts'
import { domainOf } from '../../directory/organizations/organization-domain.ts'
import type { Scope } from '../scope.ts'
import type { Roles } from './scoped-roles.ts'

/** Characters that a token has for each list of roles, at most: it has to fit into a header. */
const mostCharacters = 4000

/** The roles that a JWT says. */
export function roleClaims(roles: Roles, { names, projectId }: Pick<Scope, 'names' | 'projectId'>) {
  return {
    ...(projectId !== undefined && { roles: roles.roles, ...fitting('project_roles', roles.projectRoles) }),
    ...(names.has('roles') &&
      fitting('organization_roles', roles.organizationRoles, roles.organizationRolesIncomplete)),
  }
}

function fitting(claim: string, all: OrganizationRoles[], incomplete = false) {
  const some = fit(all)
  return { [claim]: some, ...((incomplete || some.length < all.length) && { [`${claim}_incomplete`]: true }) }
}

function fit(all: OrganizationRoles[]): OrganizationRoles[] {
  let left = mostCharacters
  return all.filter((each) => (left -= JSON.stringify(each).length) >= 0)
}

/**
 * The roles in a project in the form of the reference system: each with the organizations that gave it, and their
 * primary domains. No more of them than fit into a token. UNAVAILABLE.
 */
export async function roleMaps(
  { grants }: Pick<Context, 'grants'>,
  projectId: string,
  projectRoles: OrganizationRoles[],
  call: ServiceCall,
): Promise<Record<string, Record<string, Record<string, string>>>> {
  const some = fit(projectRoles)
  const domains = await Promise.all(some.map(({ organization }) => domainOf(grants, organization, call)))
  const keys = [...new Set(some.flatMap(({ roles }) => roles))]
  const givers = (key: string) =>
    some.flatMap(({ organization, roles }, index) => {
      const domain = domains[index]
      return domain !== undefined && roles.includes(key) ? [[organization, domain] as const] : []
    })
  const map = Object.fromEntries(keys.map((key) => [key, Object.fromEntries(givers(key))]))
  return { 'urn:zitadel:iam:org:project:roles': map, [`urn:zitadel:iam:org:project:${projectId}:roles`]: map }
}
