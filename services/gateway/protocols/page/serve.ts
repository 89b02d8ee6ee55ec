import { RosterError } from '#lib/errors'
import type { Gateway } from '../../call/gateway.ts'
import { perform } from '../../call/perform.ts'
import type { Match } from '../../call/routes.ts'
import { type Exchange, send } from '../../listen/exchange.ts'
import { arrive } from '../arrive.ts'
import { writePageError } from './errors.ts'
import { readPageRequest } from './read.ts'
import { checkSender } from './sender.ts'
import { redirectTo, writePage } from './write.ts'

/** A page has no caller, no organization and no conditions. What the browser says of itself is kept of sign-ins. */
const believed = new Set(['traceparent', 'user-agent'])

/** Answers a browser: a link or a form comes in, and a page or a redirect goes out. */
export async function serveBrowser(gateway: Gateway, exchange: Exchange, match: Match): Promise<void> {
  const { PUBLIC_URL } = gateway.config
  const { method } = match
  const arrival = arrive(gateway, exchange, method, 'page', () => undefined)
  const answer = await perform(
    gateway,
    { ...arrival, header: (name) => (believed.has(name) ? exchange.header(name) : undefined) },
    (allowance) => {
      checkSender(exchange.request, method.desc.input, PUBLIC_URL)
      return readPageRequest(exchange, match, allowance, PUBLIC_URL)
    },
    (bytes) => (method.page ? writePage(bytes, exchange, PUBLIC_URL) : redirectTo(method.form!.next, 303)),
  )
  const { status, headers, body } = answer instanceof RosterError ? writePageError(answer, exchange, gateway) : answer
  send(exchange, status, headers, body)
}
