import { fromBinary, toBinary, toJsonString } from '@bufbuild/protobuf'
import { RosterError } from '#lib/errors'
import { type Method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { checkContentEncoding, readBody } from '../../listen/body.ts'
import { readRequestTimeout } from '../timeout.ts'
import type { Gateway } from '../../call/gateway.ts'
import { perform } from '../../call/perform.ts'
import type { Match } from '../../call/routes.ts'
import { sendError, sendJson } from '../../listen/answers.ts'
import { allowanceOf, arrive } from '../arrive.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { readRequest } from './read.ts'

/** Answers a call over the HTTP path of a method, in JSON. */
export async function serveJson(gateway: Gateway, exchange: Exchange, match: Match): Promise<void> {
  const { method } = match
  if (method.deprecatedSince !== undefined) exchange.headers.deprecation = `@${method.deprecatedSince}`
  const answer = await perform(
    gateway,
    arrive(gateway, exchange, method, 'json', (header) => readRequestTimeout(header('x-request-timeout'))),
    async (values) => {
      const body = await readJsonBody(gateway, exchange, method)
      return toBinary(method.desc.input, readRequest(match, exchange.query, body, values))
    },
    (bytes, headers) => {
      Object.assign(exchange.headers, headers)
      return toJsonString(method.desc.output, fromBinary(method.desc.output, bytes), { registry })
    },
  )
  if (typeof answer === 'string') sendJson(exchange, 200, answer)
  else sendError(exchange, answer)
}

// RFC 9110 allows a semicolon without a parameter.
const jsonType = /^application\/json *(; *(charset="?utf-8"? *)?)*$/i

async function readJsonBody(gateway: Gateway, exchange: Exchange, method: Method): Promise<Uint8Array | undefined> {
  const { request, header } = exchange
  const type = header('content-type')
  const { hasBody } = method.http!
  if (hasBody && type !== undefined && !jsonType.test(type)) throw unsupportedType()
  if (hasBody) checkContentEncoding(header)
  const body = await readBody(request, header('content-length'), allowanceOf(gateway, exchange, method))
  if (body.length === 0) return undefined
  if (!hasBody) throw bodyNotAllowed()
  if (type === undefined) throw unsupportedType()
  return body
}

/** The error of a request whose path does not read its content type. */
export function unsupportedType(wanted = 'application/json'): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'CONTENT_TYPE_UNSUPPORTED', `The content type must be ${wanted}.`)
}

/** The error of a request by GET or DELETE with a body. */
export function bodyNotAllowed(): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'BODY_NOT_ALLOWED', 'This request must not have a body.')
}
