import { createHash, timingSafeEqual } from 'node:crypto'
import { InternalServiceDefinition } from '#gen/roster/notifier/v1/internal_service'
import { RosterError } from '#lib/errors'
import { createClient } from '#lib/rpc/call'
import { internalCalls } from '../../internal-calls.ts'
import type { Gateway } from '../call/gateway.ts'
import { checkContentEncoding, readBody } from '../listen/body.ts'
import type { Exchange } from '../listen/exchange.ts'
import { admitOther, countOther } from './arrive.ts'
import { sendError } from './json/errors.ts'
import { sendJson } from './json/write.ts'

/** Where mail providers post what became of mails. */
export const reportsPath = '/mails/bounces'

const user = 'roster'
const mostBytes = 1024 * 1024
const answerWithin = 10_000

/**
 * Takes what mail providers post, who prove themselves by HTTP Basic: of their webhooks, all can do that. Nothing of a
 * stranger's body is read. What it means, the notifier knows.
 */
export function createProviderReports(gateway: Gateway, password: string) {
  const notifier = createClient(gateway.nats, InternalServiceDefinition, internalCalls.gateway.notifier)
  const wanted = digest(`${user}:${password}`)

  return async (exchange: Exchange): Promise<void> => {
    const { request, header, requestId } = exchange
    const hold = admitOther(gateway, exchange)
    countOther(gateway, exchange)
    const [, encoded = ''] = /^basic +(\S+) *$/i.exec(header('authorization') ?? '') ?? []
    if (!timingSafeEqual(digest(Buffer.from(encoded, 'base64')), wanted)) return refuse(exchange)
    checkContentEncoding(header)
    const allowance = { bytes: mostBytes, patience: gateway.config.REQUEST_TIMEOUT_MS, hold }
    const body = await readBody(request, header('content-length'), allowance)
    await notifier.takeProviderReport({ body }, { requestId, deadline: Date.now() + answerWithin })
    sendJson(exchange, 200, '{}')
  }
}

// Amazon SNS sends the password only once it was asked for.
function refuse(exchange: Exchange) {
  const message = `The path needs HTTP Basic with the user ${user} and the password of MAIL_BOUNCES_PASSWORD.`
  const error = new RosterError('UNAUTHENTICATED', 'MAIL_PROVIDER_UNKNOWN', message)
  sendError(exchange, error, { 'www-authenticate': 'Basic realm="roster"' })
}

function digest(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest()
}
