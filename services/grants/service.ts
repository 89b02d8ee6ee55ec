import { InternalServiceDefinition } from '#gen/roster/grants/v1/internal_service'
import { OrganizationServiceDefinition } from '#gen/roster/grants/v1/organization_service'
import { ProjectServiceDefinition } from '#gen/roster/grants/v1/project_service'
import { UserGrantServiceDefinition } from '#gen/roster/grants/v1/user_grant_service'
import { InternalServiceDefinition as UsersInternal } from '#gen/roster/users/v1/internal_service'
import { openDatabase, untilReachable } from '#lib/eventstore/database'
import { createFeed } from '#lib/eventstore/feed'
import { migrate } from '#lib/eventstore/migrate'
import { keepAnswers } from '#lib/eventstore/once'
import { createStore } from '#lib/eventstore/store'
import { startTail } from '#lib/eventstore/tail'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats'
import type { Service } from '#lib/process'
import { createClient } from '#lib/rpc/call'
import { serve, served } from '#lib/rpc/serve'
import { createCallerReader } from '#lib/rpc/verify-callers'
import { bootstrap } from './bootstrap.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { addOrganization } from './operations/add-organization.ts'
import { addOrganizationMember } from './operations/add-organization-member.ts'
import { addProject } from './operations/add-project.ts'
import { addProjectGrant } from './operations/add-project-grant.ts'
import { addProjectRole } from './operations/add-project-role.ts'
import { addUserGrant } from './operations/add-user-grant.ts'
import { getMyOrganization } from './operations/get-my-organization.ts'
import { getUserGrant } from './operations/get-user-grant.ts'
import { listInstanceOwners } from './operations/list-instance-owners.ts'
import { listMemberships } from './operations/list-memberships.ts'
import { listProjectRoles } from './operations/list-project-roles.ts'
import { lookupOrganization } from './operations/lookup-organization.ts'
import { startUserRemoval } from './user-removal.ts'
import { callerChangedBy, project } from './views.ts'
import { evolve } from './vocabulary.ts'

/** Starts the grants service: brings its schema up to date, makes the first organization, and answers. */
export async function startGrants({ config, nats, log }: { config: Config; nats: Nats; log: Log }): Promise<Service> {
  const sql = openDatabase(config.DATABASE_URL, 'grants', log)
  await migrate(sql, new URL('./migrations/', import.meta.url), log)
  const tail = startTail({ service: 'grants', sql, nats, log, callerChangedBy })
  const answers = keepAnswers(sql, config.ROSTER_ENCRYPTION_KEY, log)
  const store = createStore(sql, { evolve, project }, log, tail.committed, answers, config.EVENT_MAX_BYTES)
  const context: Context = { config, sql, store, users: createClient(nats, 'grants', UsersInternal) }
  await untilReachable(log, () => bootstrap(context))
  const removal = startUserRemoval(context, nats, log)
  const answering = await serve({
    name: 'grants',
    nats,
    log,
    context,
    readCaller: createCallerReader('grants', config.ROSTER_CALLER_KEY(log)),
    answers,
    parked: tail.parked,
    services: [
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
        listEvents: createFeed({ service: 'grants', sql, log }),
      }),
    ],
  })
  return {
    async stop() {
      await answering.stop()
      answers.stop()
      await removal.stop()
      await tail.stop()
      await sql.end()
    },
  }
}
