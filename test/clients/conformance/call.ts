import { setTimeout as sleep } from 'node:timers/promises'
import { type DescMessage, fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import { type CodeName, deadlineExceeded, RosterError } from '../../../lib/errors.ts'
import { type Answered, callBytes as askNats } from '../../../lib/rpc/call.ts'
import { methods } from './methods.ts'
import { registry } from './registry.ts'
import { type SuiteCall, suiteCall, type SuiteHeader } from './suite-call.ts'

export * from '../../../lib/rpc/call.ts'

/** `UnaryRequest` or `ServerStreamRequest` in JSON. */
interface SuiteRequest {
  /** Of a stream: the number of messages that were sent. */
  cursor?: string
  responseDefinition?: {
    responseHeaders?: SuiteHeader[]
    responseTrailers?: SuiteHeader[]
    responseData?: string | string[]
    responseDelayMs?: number
    error?: { code: string; message?: string; details?: JsonObject[] }
  }
}

/** Answers the methods of the suite as its `service.proto` says. Other questions go to NATS. */
export const callBytes: typeof askNats = async (nats, subject, bytes, call, signal): Promise<Answered> => {
  if (subject.startsWith('roster.')) return askNats(nats, subject, bytes, call, signal)
  const { desc, streams } = methods.get(subject)!
  const { cursor, ...request } = readRequest(desc.input, bytes)
  const { responseDefinition: { responseDelayMs = 0, ...wanted } = {} } = request
  const suite = suiteCall()
  const sent = Number(cursor ?? 0)
  const info = sent === 0 ? requestInfo(suite, { '@type': typeUrl(desc.input.typeName), ...request }) : undefined
  const data = streams ? wanted.responseData?.[sent] : wanted.responseData
  const isAnswered = data !== undefined || (!streams && !wanted.error)
  if (isAnswered || !streams) {
    const left = call.deadline - Date.now()
    if (left > 0) await sleep(Math.min(responseDelayMs, left), undefined, signal && { signal })
    if (responseDelayMs >= left) throw deadlineExceeded()
  }
  if (!isAnswered) throw failure(suite, wanted.error, info)
  const payload = { ...(data !== undefined && { data: data as string }), ...(info && { requestInfo: info }) }
  const answer = { payload, ...(streams && { cursor: String(sent + 1) }) }
  return {
    bytes: toBinary(desc.output, fromJson(desc.output, answer, { registry })),
    sequence: undefined,
    replayed: false,
  }
}

/** Reads a request, and notes the headers and trailers that it asks for. */
export function readRequest(input: DescMessage, bytes: Uint8Array): SuiteRequest {
  const request = toJson(input, fromBinary(input, bytes), { registry }) as SuiteRequest
  const { responseHeaders = [], responseTrailers = [] } = request.responseDefinition ?? {}
  Object.assign(suiteCall(), { responseHeaders, responseTrailers })
  return request
}

function requestInfo({ requestHeaders, queryParams, timeout }: SuiteCall, request: object): JsonObject {
  return {
    requestHeaders: requestHeaders as unknown as JsonObject[],
    ...(timeout !== undefined && { timeoutMs: String(Math.floor(timeout)) }),
    requests: [request as JsonObject],
    ...(queryParams.length > 0 && { connectGetInfo: { queryParams: queryParams as unknown as JsonObject[] } }),
  }
}

// Without an error, the stream is over. The gateway knows only streams that end by an error.
function failure(suite: SuiteCall, error: NonNullable<SuiteRequest['responseDefinition']>['error'], info?: JsonObject) {
  if (!error) return Object.assign(new RosterError('UNKNOWN', 'OVER', ''), { code: 0 })
  const type = typeUrl('connectrpc.conformance.v1.ConformancePayload.RequestInfo')
  suite.details = [...(error.details ?? []), ...(info ? [{ '@type': type, ...info }] : [])]
  const name = error.code === 'CODE_CANCELED' ? 'CANCELLED' : error.code.slice('CODE_'.length)
  return new RosterError(name as CodeName, 'SUITE', error.message ?? '')
}

function typeUrl(name: string): string {
  return `type.googleapis.com/${name}`
}
