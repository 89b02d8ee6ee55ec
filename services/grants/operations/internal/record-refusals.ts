import type { RecordRefusalsRequest, RecordRefusalsResponse } from '#gen/roster/grants/v1/internal_service'
import { methods } from '#lib/rpc/methods'
import type { Context } from '../../context.ts'
import { keepRefusals } from '../../explain/refused-calls.ts'

export async function recordRefusals(
  { sql }: Context,
  { refusals }: RecordRefusalsRequest,
): Promise<RecordRefusalsResponse> {
  // A gateway of a later version may know more methods.
  const known = refusals.filter(({ method }) => methods.has(method))
  if (known.length > 0) await keepRefusals(sql, known)
  return {}
}
