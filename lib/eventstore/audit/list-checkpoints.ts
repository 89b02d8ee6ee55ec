import type { ListCheckpointsRequest, ListCheckpointsResponse } from '#gen/roster/audit/v1/audit'
import { orUnavailable, type Sql } from '../database.ts'
import { checkpointsAfter, readAuditKeys } from './chain-rows.ts'

/** Lists the checkpoints of the service that has this database. UNAVAILABLE STORE_UNAVAILABLE. */
export type ListCheckpoints = (context: unknown, request: ListCheckpointsRequest) => Promise<ListCheckpointsResponse>

const most = 1000

/** Answers ListCheckpoints. */
export function createCheckpointList(sql: Sql): ListCheckpoints {
  return async (_context, { after, limit }) => {
    const [checkpoints, keys] = await orUnavailable(
      Promise.all([checkpointsAfter(sql, after, Math.min(Math.max(limit, 0), most)), readAuditKeys(sql)]),
    )
    // Whoever asks knows whom he asked.
    return { checkpoints, keys: keys.map((key) => ({ ...key, service: '' })) }
  }
}
