import type {
  ListSessionApplicationsRequest,
  ListSessionApplicationsResponse,
  SessionApplication,
} from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Context } from '../context.ts'

export async function listSessionApplications(
  { sql }: Context,
  { sessionIds }: ListSessionApplicationsRequest,
): Promise<ListSessionApplicationsResponse> {
  const applications = await orUnavailable(sql<SessionApplication[]>`
    select s.session_id as "sessionId", s.application_id as "applicationId", c.organization_id as "organizationId"
    from session_applications s join copies c on c.type = 'application' and c.id = s.application_id
    where s.session_id = any(${sessionIds}) and c.state -> 'oidc' ->> 'backChannelLogoutUri' <> ''
  `)
  return { applications }
}
