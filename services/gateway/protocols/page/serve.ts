import { RosterError } from '#lib/errors'
import type { Gateway } from '../../call/gateway.ts'
import { perform } from '../../call/perform.ts'
import type { Match } from '../../call/routes.ts'
import { type Exchange, send } from '../../listen/exchange.ts'
import { type BrandKey, brandIn } from '../../pages/brands.ts'
import { brandedPath } from '../../pages/login/form.ts'
import { arrive } from '../arrive.ts'
import { readCookie } from './cookie.ts'
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
  // Of a form that cannot be read, it is not known.
  const named = { organizationId: brandIn(new URLSearchParams(exchange.query)) }
  const arrival = arrive(gateway, exchange, method, 'page', () => undefined)
  const answer = await perform(
    gateway,
    { ...arrival, header: (name) => (believed.has(name) ? exchange.header(name) : undefined) },
    (allowance) => {
      checkSender(exchange.request, method.desc.input, PUBLIC_URL)
      return readPageRequest(exchange, match, allowance, PUBLIC_URL, named)
    },
    (bytes) =>
      method.page
        ? writePage(bytes, exchange, { PUBLIC_URL, ...named })
        : redirectTo(brandedPath(method.form!.next, named.organizationId), 303),
  )
  const { status, headers, body } =
    answer instanceof RosterError
      ? await writePageError(answer, exchange, gateway, keyOf(named, match, exchange, PUBLIC_URL))
      : answer
  send(exchange, status, headers, body)
}

/** Says the error of a request that is none of an operation. */
export async function sendPageError(gateway: Gateway, exchange: Exchange, error: RosterError): Promise<void> {
  const named = { organizationId: brandIn(new URLSearchParams(exchange.query)) }
  const { status, headers, body } = await writePageError(error, exchange, gateway, named)
  send(exchange, status, headers, body)
}

// The page of a request, which is of this browser, looks as the request wants it to.
function keyOf(
  named: { organizationId: string },
  { variables }: Match,
  exchange: Exchange,
  publicUrl: string,
): BrandKey {
  const requestId = variables.find(({ field }) => field.name === 'request_id')?.text
  return { ...named, ...(requestId && { requestId, browser: readCookie(exchange.request.headers.cookie, publicUrl) }) }
}
