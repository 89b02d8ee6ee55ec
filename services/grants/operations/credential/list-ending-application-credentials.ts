import {
  ApplicationCredentialType,
  type ListEndingApplicationCredentialsRequest,
  type ListEndingApplicationCredentialsResponse,
} from '#gen/roster/grants/v1/application_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'

const defaultDays = 30
const most = 100

export async function listEndingApplicationCredentials(
  { sql }: Context,
  request: ListEndingApplicationCredentialsRequest,
  { organizationId }: Call,
): Promise<ListEndingApplicationCredentialsResponse> {
  const rows = await orUnavailable(sql<Row[]>`
    select c.project_id as "projectId", c.application_id as "appId", a.name, c.kind,
      c.credential_id as "credentialId", c.ends_at as "expirationDate"
    from application_credentials c join applications a using (application_id)
    where c.organization_id = ${organizationId} and c.ends_at > roster_now()
      and c.ends_at <= roster_now() + make_interval(days => ${request.days || defaultDays}::int)
    order by c.ends_at, c.credential_id
    limit ${most + 1}
  `)
  const { APPLICATION_CREDENTIAL_TYPE_KEY, APPLICATION_CREDENTIAL_TYPE_SECRET } = ApplicationCredentialType
  const credentials = rows.slice(0, most).map(({ kind, ...row }) => ({
    ...row,
    type: kind === 'key' ? APPLICATION_CREDENTIAL_TYPE_KEY : APPLICATION_CREDENTIAL_TYPE_SECRET,
  }))
  return { credentials, more: rows.length > most }
}

interface Row {
  projectId: string
  appId: string
  name: string
  kind: string
  credentialId: string
  expirationDate: Date
}
