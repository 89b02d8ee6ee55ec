import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Write } from '#lib/eventstore/database'
import type { Happened } from '#lib/eventstore/tail'
import type { Member, UserGrant } from './vocabulary.ts'

/** Keeps the service's own tables in step with a change. */
export function project({ after }: { after: Aggregate<any> }): Write[] {
  if (after.type === 'member') return projectMember(after)
  if (after.type === 'user_grant') return projectUserGrant(after)
  return []
}

function projectUserGrant({ id, organizationId, state }: Aggregate<UserGrant>): Write[] {
  if (!state) return []
  const { userId, projectId, roleKeys } = state
  return [
    (sql) => sql`
      insert into project_roles (grant_id, user_id, project_id, organization_id, role_keys)
      values (${id}, ${userId}, ${projectId}, ${organizationId}, ${roleKeys})
      on conflict (grant_id) do update set role_keys = excluded.role_keys
    `,
  ]
}

function projectMember({ organizationId, state }: Aggregate<Member>): Write[] {
  if (!state) return []
  return [
    (sql) => sql`
      insert into memberships (user_id, organization_id, roles)
      values (${state.userId}, ${organizationId}, ${state.roles})
      on conflict (user_id, organization_id) do update set roles = excluded.roles
    `,
  ]
}

/** The user whose roles an event changes. */
export function callerChangedBy(event: Happened): string | undefined {
  return event.aggregate_type === 'member' ? (event.payload as Member).userId : undefined
}
