import { codes, type RosterError } from '#lib/errors'
import { findRoutes } from '../../call/routes.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { httpStatus } from '../../listen/http-status.ts'
import { html } from '../../pages/login/html.ts'
import { chooseLanguage, duration } from '../../pages/login/language.ts'
import { notice, type NoticeKey } from '../../pages/login/notice.ts'
import { errorHeaders } from '../error-headers.ts'
import { redirectTo, type Reply, toReply } from './write.ts'

/** Writes an error as a page, which says nothing of the inside. A link under another host leads to PUBLIC_URL. */
export function writePageError(error: RosterError, exchange: Exchange, publicUrl: string): Reply {
  const { request, path, query } = exchange
  const isGet = request.method === 'GET'
  const address = query === '' ? path : `${path}?${query}`
  if (error.reason === 'HOST_OTHER' && isGet) return redirectTo(publicUrl + address, 302)
  const language = chooseLanguage('', request.headers['accept-language'])
  const key = keyOf(error)
  const seconds = Math.ceil(error.retryAfter ?? 5)
  const passes = key === 'unavailable' || key === 'often'
  // After a form, the page that it was on.
  const retry = passes && findRoutes(path).has('GET') && html`<a href="${address}">${language.text.tryAgain}</a>`
  const page = notice(language, key, { wait: duration(language, seconds) }, retry)
  const reply = toReply(page, key === 'unavailable' ? 503 : httpStatus(error))
  Object.assign(reply.headers, errorHeaders(error), passes && { 'retry-after': String(seconds) })
  return reply
}

function keyOf({ code, reason }: RosterError): NoticeKey {
  return byReason[reason] ?? byCode[code] ?? 'failed'
}

const byReason: Record<string, NoticeKey> = {
  CODE_INVALID: 'codeInvalid',
  PAGE_REFUSED: 'refused',
  REQUEST_TOO_LARGE: 'tooLarge',
  HEADERS_TOO_LARGE: 'tooLarge',
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
