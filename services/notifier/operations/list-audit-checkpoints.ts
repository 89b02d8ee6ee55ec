import type { ListAuditCheckpointsRequest, ListAuditCheckpointsResponse } from '#gen/roster/notifier/v1/audit_service'
import type { Call } from '#lib/rpc/headers'
import { askForCheckpoints } from '../audit/checkpoint-lists.ts'
import type { Context } from '../context.ts'

const defaultLimit = 100

export async function listAuditCheckpoints(
  { checkpointLists }: Context,
  { service, after, limit }: ListAuditCheckpointsRequest,
  call: Call,
): Promise<ListAuditCheckpointsResponse> {
  const request = { after, limit: limit || defaultLimit }
  const { checkpoints } = await askForCheckpoints(checkpointLists, service, request, call)
  return { checkpoints }
}
