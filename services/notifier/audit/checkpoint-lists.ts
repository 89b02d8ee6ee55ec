import type { AuditKey, ListCheckpointsRequest, ListCheckpointsResponse } from '#gen/roster/audit/v1/audit'
import { ask } from '../feeds/read-events.ts'
import type { ServiceCall } from '#lib/rpc/call'

/** Lists each service's checkpoints, by the service's name. */
export type CheckpointLists = Record<
  string,
  (request: ListCheckpointsRequest, call: ServiceCall) => Promise<ListCheckpointsResponse>
>

const answerWithin = 5000
/** Milliseconds for which the keys are not asked for again: anybody may read them. */
const keysCount = 60_000

/** Asks a service for its checkpoints. UNAVAILABLE SERVICE_UNAVAILABLE. */
export function askForCheckpoints(
  lists: CheckpointLists,
  service: string,
  request: ListCheckpointsRequest,
  { requestId, traceparent = '', deadline }: ServiceCall,
): Promise<ListCheckpointsResponse> {
  const within = { requestId, traceparent, deadline: Math.min(deadline, Date.now() + answerWithin) }
  return ask(() => lists[service]!(request, within), deadline)
}

/** Returns the public keys of all services. Calls of the same minute share an answer. */
export function shareKeys(lists: CheckpointLists): (call: ServiceCall) => Promise<AuditKey[]> {
  let known: { at: number; keys: Promise<AuditKey[]> } | undefined
  return (call) => {
    if (known && Date.now() - known.at < keysCount) return known.keys
    const keys = Promise.all(Object.keys(lists).map((service) => keysOf(lists, service, call))).then((all) =>
      all.flat(),
    )
    const own = { at: Date.now(), keys }
    known = own
    keys.catch(() => {
      if (known === own) known = undefined
    })
    return keys
  }
}

// Whatever it says itself: a service names no key of another one.
async function keysOf(lists: CheckpointLists, service: string, call: ServiceCall): Promise<AuditKey[]> {
  const { keys } = await askForCheckpoints(lists, service, { after: 0, limit: 0 }, call)
  return keys.map((key) => ({ ...key, service }))
}
