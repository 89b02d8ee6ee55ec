import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Write } from '#lib/database/database'
import type { Happened } from '#lib/outbox/announcer'
import { everybodyOf } from '#lib/events/hints'
import { projectApplicationCredentials } from './search/application-credential-rows.ts'
import { projectApplication } from './search/application-rows.ts'
import { projectOrganization } from './search/organization-rows.ts'
import { projectProjectGrant } from './search/project-grant-rows.ts'
import { projectProject } from './search/project-rows.ts'
import { projectWatchedDomains } from './search/watched-domain-rows.ts'
import { projectUserGrant } from './search/user-grant-rows.ts'
import type { Application } from './vocabulary/application.ts'
import type { Member } from './vocabulary/member.ts'
import type { Organization, OrganizationEvent } from './vocabulary/organization.ts'
import type { Project } from './vocabulary/project.ts'
import type { ProjectGrant } from './vocabulary/project-grant.ts'
import type { UserGrant } from './vocabulary/user-grant.ts'

/** The projections: keeps the service's own tables in step with a change. */
export function project({ before, after }: { before: Aggregate; after: Aggregate }): Write[] {
  switch (after.type) {
    case 'member':
      return projectMember(after as Aggregate<Member>)
    case 'organization':
      return [
        ...projectOrganization(after as Aggregate<Organization>),
        ...projectWatchedDomains(before as Aggregate<Organization>, after as Aggregate<Organization>),
      ]
    case 'project':
      return projectProject(before as Aggregate<Project>, after as Aggregate<Project>)
    case 'project_grant':
      return projectProjectGrant(after as Aggregate<ProjectGrant>)
    case 'user_grant':
      return projectUserGrant(before as Aggregate<UserGrant>, after as Aggregate<UserGrant>)
    case 'application':
      return [
        ...projectApplication(before as Aggregate<Application>, after as Aggregate<Application>),
        ...projectApplicationCredentials(before as Aggregate<Application>, after as Aggregate<Application>),
      ]
    default:
      return []
  }
}

function projectMember({ organizationId, sequence, createdAt, changedAt, state }: Aggregate<Member>): Write[] {
  if (!state) return []
  const { userId, projectId = '', roles, removed } = state
  if (removed)
    return [
      (sql) => sql`
        delete from memberships
        where user_id = ${userId} and organization_id = ${organizationId} and project_id = ${projectId}
      `,
    ]
  return [
    (sql) => sql`
      insert into memberships (user_id, organization_id, project_id, roles, sequence, created_at, changed_at)
      values (${userId}, ${organizationId}, ${projectId}, ${roles}, ${sequence}, ${createdAt}, ${changedAt})
      on conflict (user_id, organization_id, project_id) do update
      set roles = excluded.roles, sequence = excluded.sequence, created_at = excluded.created_at,
        changed_at = excluded.changed_at
    `,
  ]
}

/** The user whose roles an event changes, or everybody of an organization that is closed or opened. */
export function callerChangedBy({ aggregate_type, aggregate_id, type, payload }: Happened): string | undefined {
  if (aggregate_type === 'member') return (payload as { userId: string }).userId
  return aggregate_type === 'organization' && closing.has(type) ? everybodyOf(aggregate_id) : undefined
}

const closing = new Set<string>(['deactivated', 'reactivated', 'removed'] satisfies OrganizationEvent['type'][])
