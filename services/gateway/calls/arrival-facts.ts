import { invalid } from '#lib/errors'
import type { Credentials } from '../callers/authenticate.ts'
import type { Arrival } from './calls.ts'

/** What proves who calls. */
export function credentialsOf(arrival: Arrival, deadline: number, signal: AbortSignal): Credentials {
  const { header, requestId, verb, path } = arrival
  return {
    authorization: header('authorization'),
    request: arrival,
    proof: header('dpop'),
    verb,
    path,
    organization: () => organizationOf(header),
    clientAddress: arrival.clientAddress,
    requestId,
    deadline,
    signal,
  }
}

// The second is what clients of the field's reference system send.
function organizationOf(header: Arrival['header']): string | undefined {
  const [organization, alias] = [header('x-service-orgid'), header('x-zitadel-orgid')]
  if (organization && alias && organization !== alias) throw organizationAmbiguous()
  return organization || alias
}

function organizationAmbiguous() {
  const description = 'names another organization than x-service-orgid'
  return invalid([{ field: 'x-zitadel-orgid', description }], 'ORGANIZATION_AMBIGUOUS')
}

/** What a service is told of a call, whoever calls. */
export function callOf({ requestId, clientAddress, header }: Arrival) {
  return {
    requestId,
    clientAddress,
    traceparent: readTraceparent(header('traceparent')),
  }
}

function readTraceparent(text: string | undefined): string {
  return text !== undefined && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text) ? text : ''
}
