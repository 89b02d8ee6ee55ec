import { timingSafeEqual } from 'node:crypto'
import type { PageAnswer, ReturnFromProviderRequest } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Context } from '../../../context.ts'
import { redirect, toPage } from '../../../openid/authorization/answer.ts'
import { isSignIn } from '../../../openid/request/parameters.ts'
import { advance, type BegunAtProvider, findRequest } from '../../../openid/request/request-row.ts'
import { requestUnknown } from '../way-back.ts'

/** Milliseconds for which an answer is kept that came by POST. */
const keptFor = 300_000

/** What comes with the browser: the parameters as they came, and the values of the header that brings a token. */
export interface ProviderAnswer {
  answer: string
  tokens: string[]
  /** The template of the path that it came to. */
  cameTo: string
}

/**
 * Keeps an answer that a provider has the browser post, which comes across sites without its cookie: the first one for a state
 * that is known. The browser asks for the address of its GET then, with the cookie, and the state finds it again.
 */
export async function keepPosted(context: Context, request: ReturnFromProviderRequest): Promise<PageAnswer> {
  const { idpId, state } = request
  const { requestId, secret } = partsOf(state)
  const row = await findRequest(context, requestId, 'page', isSignIn)
  const begun = row?.progress.provider
  if (!row || !isOf(begun, idpId, secret)) return row ? toPage(row.id) : requestUnknown(context)
  if (!begun.posted && !row.answer && !row.isOver) {
    const at = (await orUnavailable(readNow(context.sql))).toISOString()
    const progress = { ...row.progress, provider: { ...begun, posted: { answer: saidIn(request), at } } }
    await orUnavailable(advance(context.keys, row.id, progress)(context.sql))
  }
  return redirect(`/ui/login/idps/${encodeURIComponent(idpId)}/callback?state=${encodeURIComponent(state)}`)
}

/** The answer to a sign-in that began in this browser. */
export function answerTo(begun: BegunAtProvider, request: ReturnFromProviderRequest, now: Date): ProviderAnswer {
  const { posted, headerName } = begun
  const counts = posted && now.getTime() - Date.parse(posted.at) <= keptFor
  return {
    answer: counts && !request.code && !request.error ? posted.answer : saidIn(request),
    tokens: valuesOf(request.headers, headerName),
    cameTo: request.cameTo,
  }
}

/** The request of a `state`, and the part of it that nobody knows. */
export function partsOf(state: string): { requestId: string; secret: string } {
  const [requestId = '', secret = ''] = state.split('.', 2)
  return { requestId, secret }
}

/** Whether a sign-in has begun with this secret, at this provider: where its address is its own, it names it. */
export function isOf(begun: BegunAtProvider | undefined, idpId: string, secret: string): begun is BegunAtProvider {
  if (!begun || !['', begun.idpId].includes(idpId)) return false
  const [left, right] = [Buffer.from(begun.secret), Buffer.from(secret)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The parameters of an answer, as they came. */
export function saidIn({ state, code, iss, error, user }: ReturnFromProviderRequest): string {
  const said = Object.entries({ state, code, iss, error, user }).filter(([, value]) => value !== '')
  return new URLSearchParams(said).toString()
}

/** The values of a header. The names are in lower case, and alternate with the values. */
export function valuesOf(headers: readonly string[], name: string): string[] {
  if (name === '') return []
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1] === name.toLowerCase())
}
