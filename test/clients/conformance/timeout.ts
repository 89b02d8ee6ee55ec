import * as roster from '../../../services/gateway/protocols/timeout.ts'
import { suiteCall } from './suite-call.ts'

export * from '../../../services/gateway/protocols/timeout.ts'

export const readGrpcTimeout: typeof roster.readGrpcTimeout = (text) => note(roster.readGrpcTimeout(text))
export const readConnectTimeout: typeof roster.readConnectTimeout = (text) => note(roster.readConnectTimeout(text))

function note(timeout: number | undefined): number | undefined {
  return (suiteCall().timeout = timeout)
}
