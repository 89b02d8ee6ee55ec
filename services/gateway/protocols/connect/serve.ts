import { RosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import type { Gateway } from '../../call/gateway.ts'
import { perform } from '../../call/perform.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { arrive } from '../arrive.ts'
import { unknownMethod } from '../grpc/errors.ts'
import { readConnectTimeout } from '../timeout.ts'
import { sendConnectError } from './errors.ts'
import { readCall, type Receive, receiveBody, receiveQuery } from './read.ts'
import { serveStream } from './stream.ts'
import { sendAnswer, writeMessage } from './write.ts'

type Serve = (gateway: Gateway, exchange: Exchange) => Promise<void>

const contentType = /^application\/(connect\+)?(?:proto|(json) *(?:; *charset="?utf-8"?)?) *$/i

/**
 * Finds how to answer a request at the gRPC path of a method in Connect. A message goes by POST. A call of a method
 * that only reads may come by GET, with its message in the query. Undefined where the request is no Connect.
 */
export function findConnect({ request }: Exchange, method: Method): Serve | undefined {
  const verb = request.method
  if (verb === 'GET' || verb === 'HEAD')
    return takesGet(method) ? (gateway, exchange) => serveUnary(gateway, exchange, method, receiveQuery) : undefined
  const [type, streams, json] = (verb === 'POST' && contentType.exec(request.headers['content-type'] ?? '')) || []
  if (type === undefined || (streams !== undefined) !== method.streams) return undefined
  const isJson = json !== undefined
  return (gateway, exchange) =>
    method.streams
      ? serveStream(gateway, exchange, method, isJson)
      : serveUnary(gateway, exchange, method, receiveBody(isJson))
}

async function serveUnary(gateway: Gateway, exchange: Exchange, method: Method, receive: Receive): Promise<void> {
  const { headers } = exchange
  if (method.deprecatedSince !== undefined) headers.deprecation = `@${method.deprecatedSince}`
  let isJson = false
  const answer = await perform(
    gateway,
    arrive(gateway, exchange, method, 'connect', readConnectTimeout),
    async (allowance, values) => {
      const call = await readCall(exchange, method, receive, allowance, values)
      isJson = call.isJson
      return call.request
    },
    (bytes, more) => {
      Object.assign(headers, more)
      return writeMessage(method, isJson, bytes)
    },
  )
  if (answer instanceof RosterError) return sendConnectError(exchange, answer)
  return sendAnswer(exchange, method, isJson, answer)
}

/** The verbs that the gRPC path of a method takes. */
export function verbsOf(method: Method): string[] {
  return takesGet(method) ? ['GET', 'POST'] : ['POST']
}

/** The content types that the gRPC path of a method takes. gRPC itself needs HTTP/2. */
export function typesOf({ streams }: Method, overHttp2: boolean): string[] {
  const connect = streams ? 'application/connect+' : 'application/'
  const grpc = [...(overHttp2 ? ['application/grpc'] : []), 'application/grpc-web', 'application/grpc-web-text']
  return [`${connect}proto`, `${connect}json`, ...grpc.flatMap((type) => [type, `${type}+proto`])]
}

// Logs keep addresses, so no secret comes in one.
function takesGet({ reads, streams, desc }: Method): boolean {
  return reads && !streams && !desc.input.fields.some(({ name }) => /(secret|password|token)$/.test(name))
}

/** Whether the request is a Connect client's, wherever it goes. */
export function isConnect({ request: { method, headers }, query }: Exchange): boolean {
  if (headers['connect-protocol-version'] !== undefined) return true
  if (method === 'GET') return /(^|&)connect=v1(&|$)/.test(query)
  return method === 'POST' && /^application\/(connect\+\w+|proto)\b/i.test(headers['content-type'] ?? '')
}

/** Answers a call of a method that there is not. Connect asks for 404 here, and not for the status of the code. */
export function refuseUnknown(exchange: Exchange): void {
  sendConnectError(exchange, unknownMethod(exchange.path), 404)
}
