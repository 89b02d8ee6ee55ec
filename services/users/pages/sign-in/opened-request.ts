import { NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { type Browser, findBrowser } from '../../sessions/browsers/session-cookie.ts'
import { isFormToken } from '../../sessions/browsers/form-token.ts'
import type { Context } from '../../context.ts'
import { notice, redirect, toPage } from '../../openid/authorization/answer.ts'
import { branded } from './branded.ts'
import {
  isSignIn,
  isSignOut,
  type KeptParameters,
  type Parameters,
  type SignOutParameters,
} from '../../openid/request/parameters.ts'
import { findRequest, type IsOf, type RequestRow } from '../../openid/request/request-row.ts'
import { requestUnknown } from './way-back.ts'

/** A request in the browser that it belongs to. */
export interface OpenedRequest<P = Parameters> {
  /** Of the cookie. */
  value: string
  browser: Browser
  row: RequestRow<P>
  now: Date
}

/** What a request is for: its parameters, and the way to its page. */
export interface Purpose<P extends KeptParameters> {
  isOf: IsOf<P>
  toPage(requestId: string): PageAnswer
}

export const signingIn: Purpose<Parameters> = { isOf: isSignIn, toPage }
export const signingOut: Purpose<SignOutParameters> = {
  isOf: isSignOut,
  toPage: (requestId) => redirect(`/ui/login/${requestId}/sign-out`),
}

/** A request, in the browser that it belongs to. An unknown and a foreign one are alike. */
export async function openRequest<P extends KeptParameters>(
  context: Context,
  { browser: value, requestId }: { browser: string; requestId: string },
  { isOf }: Purpose<P>,
): Promise<OpenedRequest<P> | undefined> {
  const [{ browser, now }, row] = await Promise.all([
    findBrowser(context.sql, value),
    findRequest(context, requestId, 'page', isOf),
  ])
  return browser && row?.browserId === browser.id ? { value, browser, row, now } : undefined
}

/**
 * The open request of a form; or the answer, where there is none. Its page says why: so does the former value of the
 * cookie, whose browser asks for the page with the present one. `takesFormer`: a form with a first factor takes that, too.
 * `alsoOver`: one whose time is over is open as well. `takesGiven`: so is one that a password answered, to answer it again.
 */
export async function openForm<P extends KeptParameters>(
  context: Context,
  form: { browser: string; requestId: string; formToken: string },
  purpose: Purpose<P>,
  {
    takesFormer = false,
    alsoOver = false,
    takesGiven = false,
  }: { takesFormer?: boolean; alsoOver?: boolean; takesGiven?: boolean } = {},
): Promise<OpenedRequest<P> | { answer: PageAnswer }> {
  const opened = await openRequest(context, form, purpose)
  if (!opened) return { answer: await requestUnknown(context) }
  const { browser, row } = opened
  if (!browser.isPresent && !takesFormer) return { answer: purpose.toPage(row.id) }
  if (!isFormToken(context.keys, browser.id, row.id, form.formToken))
    return {
      answer: await branded(context, notice(NoticeReason.NOTICE_REASON_FORM_INVALID), { scope: '', ...row.parameters }),
    }
  if (takesGiven && row.progress.given) return opened
  return row.answer || (row.isOver && !alsoOver) ? { answer: purpose.toPage(row.id) } : opened
}
