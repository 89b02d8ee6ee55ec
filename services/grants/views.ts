import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Write } from '#lib/eventstore/database'
import type { Happened } from '#lib/eventstore/tail'
import type { Member } from './vocabulary/member.ts'

/** Keeps the service's own tables in step with a change. */
export function project({ after }: { after: Aggregate }): Write[] {
  if (after.type !== 'member') return []
  const { organizationId, state } = after as Aggregate<Member>
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
      insert into memberships (user_id, organization_id, project_id, roles)
      values (${userId}, ${organizationId}, ${projectId}, ${roles})
      on conflict (user_id, organization_id, project_id) do update set roles = excluded.roles
    `,
  ]
}

/** The user whose roles an event changes. */
export function callerChangedBy(event: Happened): string | undefined {
  return event.aggregate_type === 'member' ? (event.payload as { userId: string }).userId : undefined
}
