import type { BulkDone, BulkResult } from '#gen/roster/object/v1/bulk'
import { RosterError } from './errors.ts'
import { toStatus } from './status.ts'

/** The results of a bulk, in the order of its items. */
export function bulkResults(outcomes: (BulkDone | RosterError)[]): BulkResult[] {
  return outcomes.map((outcome, index) => ({
    index,
    outcome:
      outcome instanceof RosterError ? { $case: 'error', value: toStatus(outcome) } : { $case: 'done', value: outcome },
  }))
}
