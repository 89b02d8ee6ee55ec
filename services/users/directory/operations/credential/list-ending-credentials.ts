import {
  type ListEndingCredentialsRequest,
  type ListEndingCredentialsResponse,
  MachineCredentialType,
} from '#gen/roster/users/v1/credential_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { CredentialKind } from '../../events/credentials.ts'

const defaultDays = 30
const most = 100

const types: Record<CredentialKind, MachineCredentialType> = {
  pat: MachineCredentialType.MACHINE_CREDENTIAL_TYPE_PERSONAL_ACCESS_TOKEN,
  key: MachineCredentialType.MACHINE_CREDENTIAL_TYPE_KEY,
  secret: MachineCredentialType.MACHINE_CREDENTIAL_TYPE_SECRET,
}

/** Removed machines keep their credentials while they can be restored, and are not found. */
export async function listEndingCredentials(
  { sql }: Context,
  request: ListEndingCredentialsRequest,
  { organizationId }: Call,
): Promise<ListEndingCredentialsResponse> {
  const rows = await orUnavailable(sql<Row[]>`
    select c.user_id as "userId", c.kind, c.credential_id as "credentialId", c.ends_at as "expirationDate",
      c.used_at as "lastUseDate"
    from machine_credentials c
    where c.organization_id = ${organizationId} and c.ends_at > roster_now()
      and c.ends_at <= roster_now() + make_interval(days => ${request.days || defaultDays}::int)
      and exists (select from found_users f where f.user_id = c.user_id)
    order by c.ends_at, c.credential_id
    limit ${most + 1}
  `)
  const credentials = rows.slice(0, most).map(({ kind, lastUseDate, ...row }) => ({
    ...row,
    type: types[kind],
    lastUseDate: lastUseDate ?? undefined,
  }))
  return { credentials, more: rows.length > most }
}

interface Row {
  userId: string
  kind: CredentialKind
  credentialId: string
  expirationDate: Date
  lastUseDate: Date | null
}
