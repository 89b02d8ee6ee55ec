import { codes, type RosterError } from '#lib/errors'
import type { Gateway } from '../../call/gateway.ts'
import { findRoutes } from '../../call/routes.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { httpStatus } from '../../listen/http-status.ts'
import type { BrandKey } from '../../pages/brands.ts'
import { apart, brandedPath } from '../../pages/login/form.ts'
import { html } from '../../pages/login/html.ts'
import { chooseLanguage, duration } from '../../pages/login/language/language.ts'
import { notice, type NoticeKey } from '../../pages/login/notice.ts'
import { hostOf } from '../../pages/login/ways-out.ts'
import { errorHeaders } from '../error-headers.ts'
import { hostNamedBy } from './sender.ts'
import { redirectTo, type Reply, toReply } from './write.ts'

/** In the query of a link that was led to PUBLIC_URL already. */
const led = 'host_other=1'

/**
 * Writes an error as a page, which says nothing of the inside. A link under another host leads to PUBLIC_URL, once: where
 * it comes back under another host, a proxy has written that one, and would do so for ever.
 */
export async function writePageError(
  error: RosterError,
  exchange: Exchange,
  { config, warnOfHost, brands }: Gateway,
  brandKey: BrandKey,
): Promise<Reply> {
  const { request, path, query } = exchange
  const address = query === '' ? path : `${path}?${query}`
  const isOtherHost = error.reason === 'HOST_OTHER'
  if (isOtherHost && request.method === 'GET' && !query.split('&').includes(led))
    return redirectTo(`${config.PUBLIC_URL}${address}${query === '' ? '?' : '&'}${led}`, 302)
  const host = hostNamedBy(request.headers)?.slice(0, 200) ?? '–'
  if (isOtherHost) warnOfHost(error, { host, publicUrl: config.PUBLIC_URL })
  const key = keyOf(error)
  const seconds = Math.ceil(error.retryAfter ?? 5)
  const passes = key === 'unavailable' || key === 'often'
  // What is too much already asks for no more.
  const brand = passes ? brands.known(brandKey) : await brands.find(brandKey)
  const language = { ...chooseLanguage('', request.headers['accept-language']), brand }
  // After a form, the page that it was on.
  const again = request.method === 'GET' ? address : brandedPath(path, brandKey.organizationId)
  const retry = passes && findRoutes(path).has('GET') && html`<a href="${again}">${language.text.tryAgain}</a>`
  const values = { wait: duration(language, seconds), host: apart(host), expected: apart(hostOf(config.PUBLIC_URL)) }
  const account =
    key === 'pageUnknown' &&
    html`<a href="${brandedPath('/ui/account', brandKey.organizationId)}">${language.text.account}</a>`
  const page = notice(language, key, values, retry || account)
  const reply = toReply(page, key === 'unavailable' ? 503 : httpStatus(error))
  Object.assign(reply.headers, errorHeaders(error), passes && { 'retry-after': String(seconds) })
  return reply
}

function keyOf({ code, reason }: RosterError): NoticeKey {
  return byReason[reason] ?? byCode[code] ?? 'failed'
}

const byReason: Record<string, NoticeKey> = {
  CODE_INVALID: 'codeInvalid',
  PATH_NOT_FOUND: 'pageUnknown',
  HOST_OTHER: 'hostOther',
  PAGE_REFUSED: 'refused',
  REQUEST_TOO_LARGE: 'tooLarge',
  HEADERS_TOO_LARGE: 'tooLarge',
  PASSWORD_TOO_COMMON: 'passwordCommon',
  PASSWORD_UNCHANGED: 'passwordCommon',
}

const byCode: Partial<Record<number, NoticeKey>> = {
  [codes.INVALID_ARGUMENT]: 'unreadable',
  [codes.FAILED_PRECONDITION]: 'unreadable',
  [codes.RESOURCE_EXHAUSTED]: 'often',
  [codes.UNIMPLEMENTED]: 'notOffered',
  [codes.ABORTED]: 'unavailable',
  [codes.DEADLINE_EXCEEDED]: 'unavailable',
  [codes.UNAVAILABLE]: 'unavailable',
}
