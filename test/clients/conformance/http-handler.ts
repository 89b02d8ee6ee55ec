import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createHttpHandler as createRosterHandler } from '../../../services/gateway/protocols/http-handler.ts'
import { asRecord, inSuiteCall, type SuiteCall } from './suite-call.ts'

/** Adds the suite's headers to each answer over HTTP. A call of one message in Connect has its trailers there, too. */
export const createHttpHandler: typeof createRosterHandler = (options) => {
  const handle = createRosterHandler(options)
  return (request, response) => {
    const query = request.url!.split('?')[1] ?? ''
    return inSuiteCall(request.rawHeaders, query, (call) => {
      addHeaders(response, call)
      return handle(request, response)
    })
  }
}

function addHeaders(response: ServerResponse, call: SuiteCall) {
  const writeHead = response.writeHead.bind(response) as (
    status: number,
    headers: OutgoingHttpHeaders,
  ) => ServerResponse
  response.writeHead = ((status: number, headers: OutgoingHttpHeaders) => {
    const trailsBelow = /^application\/(connect\+|grpc-web)/.test(String(headers['content-type']))
    const trailers = trailsBelow ? {} : asRecord(call.responseTrailers, 'trailer-')
    return writeHead(status, { ...headers, ...asRecord(call.responseHeaders), ...trailers })
  }) as typeof response.writeHead
}
