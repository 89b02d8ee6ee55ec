import type { ServerHttp2Stream } from 'node:http2'
import { createGrpcHandler as createRosterHandler } from '../../../services/gateway/protocols/grpc/serve.ts'
import { asRecord, inSuiteCall, type SuiteCall } from './suite-call.ts'

export * from '../../../services/gateway/protocols/grpc/serve.ts'

/** Adds the suite's headers and trailers to each answer in gRPC. */
export const createGrpcHandler: typeof createRosterHandler = (gateway) => {
  const handle = createRosterHandler(gateway)
  return (stream, headers, raw) =>
    inSuiteCall(raw, '', (call) => {
      addMetadata(stream, call)
      handle(stream, headers, raw)
    })
}

function addMetadata(stream: ServerHttp2Stream, call: SuiteCall) {
  const respond = stream.respond.bind(stream)
  const sendTrailers = stream.sendTrailers.bind(stream)
  stream.respond = (headers, options) => {
    const trailers = options?.endStream ? asRecord(call.responseTrailers) : {}
    respond({ ...headers, ...asRecord(call.responseHeaders), ...trailers }, options)
  }
  stream.sendTrailers = (trailers) => sendTrailers({ ...trailers, ...asRecord(call.responseTrailers) })
}
