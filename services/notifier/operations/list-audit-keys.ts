import type { ListAuditKeysRequest, ListAuditKeysResponse } from '#gen/roster/notifier/v1/audit_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'

export async function listAuditKeys(
  { auditKeys }: Context,
  _request: ListAuditKeysRequest,
  call: Call,
): Promise<ListAuditKeysResponse> {
  return { keys: await auditKeys(call) }
}
