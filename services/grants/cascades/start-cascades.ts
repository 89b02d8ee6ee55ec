import type { Event } from '#gen/roster/feed/v1/feed'
import { createFeed } from '#lib/subscriptions/feed'
import { startFollowing } from '#lib/subscriptions/follow'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import type { Context } from '../context.ts'
import { type Cause, readCause } from './cause.ts'
import { clearOrganization } from './clear-organization.ts'
import { clearProject } from './clear-project.ts'
import { clearProjectGrant } from './clear-project-grant.ts'
import { takeRolesOfGrant } from './take-roles-of-grant.ts'
import { takeRoleOfProject } from './take-role-of-project.ts'

const cascades: Record<string, (context: Context, cause: Cause) => Promise<void>> = {
  'organization.removed': clearOrganization,
  'project.role.removed': takeRoleOfProject,
  'project.removed': clearProject,
  'project_grant.changed': takeRolesOfGrant,
  'project_grant.removed': clearProjectGrant,
}

/**
 * Takes away what was built on a role, a project or a project grant that is gone. An event comes again where this was
 * not finished, and it takes what is left.
 */
export function startCascades(context: Context, nats: Nats, log: Log): Service {
  const feed = createFeed({ service: 'grants', sql: context.sql, log })
  return startFollowing({
    name: 'cascades',
    service: 'grants',
    feed: (request) => feed(context, request),
    eventTypes: Object.keys(cascades),
    handle: (event, stopped) => handle(context, event, stopped),
    sql: context.sql,
    nats,
    log,
  })
}

async function handle(context: Context, event: Event, stopped: AbortSignal): Promise<void> {
  const cause = await readCause(context, event, stopped)
  await cascades[`${cause.aggregateType}.${cause.type}`]!(context, cause)
}
