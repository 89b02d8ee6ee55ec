import type { ListSecretUsesRequest, ListSecretUsesResponse, SecretUse } from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Context } from '../context.ts'

export async function listSecretUses(
  { sql }: Context,
  { applicationId }: ListSecretUsesRequest,
): Promise<ListSecretUsesResponse> {
  const uses = await orUnavailable(sql<SecretUse[]>`
    select secret_id as "secretId", used_at as time from secret_uses where application_id = ${applicationId}
  `)
  return { uses }
}
