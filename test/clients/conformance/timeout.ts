import * as roster from '../../../services/gateway/protocols/timeout.ts'
import { suiteCall } from './suite-call.ts'

export * from '../../../services/gateway/protocols/timeout.ts'

export const readGrpcTimeout: typeof roster.readGrpcTimeout = (header) => note(roster.readGrpcTimeout(header))
export const readConnectTimeout: typeof roster.readConnectTimeout = (header) => note(roster.readConnectTimeout(header))

function note(timeout: number | undefined): number | undefined {
  return (suiteCall().timeout = timeout)
}
