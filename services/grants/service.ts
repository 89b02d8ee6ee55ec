import { InternalServiceDefinition } from '#gen/roster/grants/v1/internal_service'
import { OrganizationServiceDefinition } from '#gen/roster/grants/v1/organization_service'
import { ProjectServiceDefinition } from '#gen/roster/grants/v1/project_service'
import { UserGrantServiceDefinition } from '#gen/roster/grants/v1/user_grant_service'
import { InternalServiceDefinition as UsersInternal } from '#gen/roster/users/v1/internal_service'
import { untilReachable } from '#lib/eventstore/database'
import type { Parts, Service } from '#lib/process'
import { createClient } from '#lib/rpc/call'
import { served } from '#lib/rpc/serve'
import { startStoringService, type StoringService } from '#lib/storing-service'
import { bootstrap } from './bootstrap.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { addOrganization } from './operations/organization/add-organization.ts'
import { addOrganizationMember } from './operations/organization/add-organization-member.ts'
import { addProject } from './operations/project/add-project.ts'
import { addProjectGrant } from './operations/project/add-project-grant.ts'
import { addProjectRole } from './operations/project/add-project-role.ts'
import { addUserGrant } from './operations/user-grant/add-user-grant.ts'
import { getMyOrganization } from './operations/organization/get-my-organization.ts'
import { getUserGrant } from './operations/user-grant/get-user-grant.ts'
import { listInstanceOwners } from './operations/internal/list-instance-owners.ts'
import { listMemberships } from './operations/internal/list-memberships.ts'
import { listProjectRoles } from './operations/internal/list-project-roles.ts'
import { lookupOrganization } from './operations/internal/lookup-organization.ts'
import { startUserRemoval } from './user-removal.ts'
import { callerChangedBy, project } from './views.ts'
import { evolve } from './vocabulary/evolve.ts'
import { internalCalls } from '../internal-calls.ts'

const grants: StoringService<Config, Context> = {
  name: 'grants',
  vocabulary: { evolve, project },
  callerChangedBy,
  async open({ config, nats, log, sql, store }) {
    const context: Context = {
      config,
      sql,
      store,
      users: createClient(nats, UsersInternal, internalCalls.grants.users),
    }
    await untilReachable(log, () => bootstrap(context))
    return { context, background: [startUserRemoval(context, nats, log)] }
  },
  services: (listEvents) => [
    served<typeof OrganizationServiceDefinition, Context>(OrganizationServiceDefinition, {
      addOrganization,
      getMyOrganization,
      addOrganizationMember,
    }),
    served<typeof ProjectServiceDefinition, Context>(ProjectServiceDefinition, {
      addProject,
      addProjectRole,
      addProjectGrant,
    }),
    served<typeof UserGrantServiceDefinition, Context>(UserGrantServiceDefinition, { addUserGrant, getUserGrant }),
    served<typeof InternalServiceDefinition, Context>(InternalServiceDefinition, {
      listMemberships,
      listProjectRoles,
      lookupOrganization,
      listInstanceOwners,
      listEvents,
    }),
  ],
}

/** Starts the grants service: brings its schema up to date, makes the first organization, and answers. */
export function startGrants(parts: Parts<Config>): Promise<Service> {
  return startStoringService(grants, new URL('./migrations/', import.meta.url), parts)
}
