import { toBinary } from '@bufbuild/protobuf'
import { RosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import type { Gateway } from '../../call/gateway.ts'
import { perform } from '../../call/perform.ts'
import type { Match } from '../../call/routes.ts'
import { type Exchange, protective, send } from '../../listen/exchange.ts'
import { arrive } from '../arrive.ts'
import { readRequestTimeout } from '../timeout.ts'
import { toOAuthError } from './errors.ts'
import { formType, readForm, toRequest } from './read.ts'
import { writeOAuth } from './write.ts'

/**
 * Answers a call of an OAuth 2.0 client. It sends a form, and gets JSON with the names of the proto, or an error of RFC
 * 6749.
 */
export async function serveOAuth(gateway: Gateway, exchange: Exchange, { method, variables }: Match): Promise<void> {
  const form = readForm(exchange, method)
  const arrival = arrive(gateway, exchange, method, 'oauth', readRequestTimeout)
  if (takesTokenInBody(method, exchange))
    // Nothing is known of the sender yet.
    arrival.readToken = async (allowance) => {
      const { parameters } = await form({ ...allowance, bytes: gateway.config.PUBLIC_REQUEST_BYTES })
      return parameters.get('access_token')
    }
  const answer = await perform(
    gateway,
    arrival,
    async (allowance) => toBinary(method.desc.input, toRequest(method, await form(allowance), exchange, variables)),
    (bytes, headers) => ({ headers, text: writeOAuth(method, bytes) }),
  )
  if (answer instanceof RosterError) {
    const { status, headers, body } = toOAuthError(answer, method, usesBasic(exchange))
    return send(exchange, status, { ...privately, ...headers }, JSON.stringify(body))
  }
  send(exchange, 200, { ...(method.oauth === 'document' ? publicly : privately), ...answer.headers }, answer.text)
}

const json = { ...protective, 'content-type': 'application/json' }
const privately = { ...json, pragma: 'no-cache' }
const publicly = { ...json, 'cache-control': 'public, max-age=300' }

// RFC 6750 section 2.2.
function takesTokenInBody({ access }: Method, { request, header }: Exchange): boolean {
  const isForm = request.method === 'POST' && formType.test(header('content-type') ?? '')
  return access.rule !== 'public' && isForm && header('authorization') === undefined
}

function usesBasic({ request }: Exchange): boolean {
  return /^basic /i.test(request.headers.authorization ?? '')
}
