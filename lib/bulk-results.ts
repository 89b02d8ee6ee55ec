import type { BulkDone, BulkResult } from '#gen/roster/object/v1/bulk'
import { RosterError } from './errors.ts'
import { countLimit } from './limits-hit.ts'
import { toStatus } from './status.ts'

/** The results of a bulk, in the order of its items. Counts the limits that were hit. */
export function bulkResults<Response>(
  outcomes: (Response | RosterError)[],
  toDone: (response: Response) => BulkDone,
): BulkResult[] {
  for (const outcome of outcomes) countLimit(outcome)
  return outcomes.map((outcome, index) => ({
    index,
    outcome:
      outcome instanceof RosterError
        ? { $case: 'error', value: toStatus(shorten(outcome)) }
        : { $case: 'done', value: toDone(outcome) },
  }))
}

// A thousand errors must fit into one answer of the broker, and some repeat texts of the request.
const longestText = 300

function shorten({ code, reason, message, metadata, violations, retryAfter }: RosterError) {
  const isShort = (text: string) => Buffer.byteLength(text) <= longestText
  return {
    code,
    reason,
    message: isShort(message) ? message : `${[...message].slice(0, longestText / 4 - 1).join('')}…`,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([, value]) => isShort(value))),
    violations,
    retryAfter,
  }
}
