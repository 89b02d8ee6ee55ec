import { toBinary } from '@bufbuild/protobuf'
import { RosterError } from '#lib/errors'
import type { Gateway } from '../../call/gateway.ts'
import { perform } from '../../call/perform.ts'
import type { Match } from '../../call/routes.ts'
import { type Exchange, protective, send } from '../../listen/exchange.ts'
import { arrive } from '../arrive.ts'
import { readRequestTimeout } from '../timeout.ts'
import { toOAuthError } from './errors.ts'
import { readForm } from './read.ts'
import { writeOAuth } from './write.ts'

/**
 * Answers a call of an OAuth 2.0 client. It sends a form, and gets JSON with the names of the proto, or an error of RFC
 * 6749.
 */
export async function serveOAuth(gateway: Gateway, exchange: Exchange, { method }: Match): Promise<void> {
  const answer = await perform(
    gateway,
    arrive(gateway, exchange, method, 'oauth', readRequestTimeout),
    async (allowance) => toBinary(method.desc.input, await readForm(method.desc.input, exchange, allowance)),
    (bytes, headers) => ({ headers, text: writeOAuth(method, bytes) }),
  )
  if (answer instanceof RosterError) {
    const { status, headers, body } = toOAuthError(answer, usesBasic(exchange))
    return send(exchange, status, { ...privately, ...headers }, JSON.stringify(body))
  }
  send(exchange, 200, { ...(method.oauth === 'document' ? publicly : privately), ...answer.headers }, answer.text)
}

const json = { ...protective, 'content-type': 'application/json' }
const privately = { ...json, pragma: 'no-cache' }
const publicly = { ...json, 'cache-control': 'public, max-age=300' }

function usesBasic({ request }: Exchange): boolean {
  return /^basic /i.test(request.headers.authorization ?? '')
}
