import type { Gateway } from '../../call/gateway.ts'
import { perform } from '../../call/perform.ts'
import type { Match } from '../../call/routes.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { arrive } from '../arrive.ts'
import { readRequestTimeout } from '../timeout.ts'
import { sendError } from './errors.ts'
import { readCall } from './read.ts'
import { sendJson, writeJson } from './write.ts'

/** Answers a call over the HTTP path of a method, in JSON. */
export async function serveJson(gateway: Gateway, exchange: Exchange, match: Match): Promise<void> {
  const { method } = match
  if (method.deprecatedSince !== undefined) exchange.headers.deprecation = `@${method.deprecatedSince}`
  const answer = await perform(
    gateway,
    arrive(gateway, exchange, method, 'json', readRequestTimeout),
    (allowance, values) => readCall(exchange, match, allowance, values),
    (bytes, headers) => {
      Object.assign(exchange.headers, headers)
      return writeJson(method, bytes)
    },
  )
  if (typeof answer === 'string') sendJson(exchange, 200, answer)
  else sendError(exchange, answer)
}
