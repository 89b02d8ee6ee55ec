import { type CheckCodeRequest, CodeError, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { findCode } from '../../directory/secrets/one-time-codes.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import { toPage } from '../../openid/authorization/answer.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import { advance, closeRequest, type Progress, stillOpen } from '../../openid/request/request-row.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import { sendCode } from '../../sessions/factors/otp-email/send-code.ts'
import { factors } from '../../sessions/factors/registry.ts'
import { openBrowserSession } from '../../sessions/open-browser-session.ts'
import { openForm, type OpenedRequest, signingIn } from '../sign-in/opened-request.ts'
import { requestStateOf } from '../sign-in/request-state.ts'

export async function checkCode(context: Context, request: CheckCodeRequest, call: Call): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn)
  if ('answer' in opened) return opened.answer
  const { row, now } = opened
  const page = toPage(row.id)
  if (request.action === 'cancel') {
    await closeRequest(context.sql, row.id, 'cancelled')
    return page
  }
  const next = async (progress: Progress, session?: null) => {
    await orUnavailable(advance(context.keys, row.id, progress, session)(context.sql))
    return page
  }
  if (request.action === 'another-account') return next({ asksName: true }, null)
  const state = await requestStateOf(context, opened, call)
  const person = 'chosen' in state ? state.chosen : undefined
  if (!person || !lacksSecondFactor(person)) return page
  if (request.action === 'send')
    return next({
      ...row.progress,
      code: {
        isSent: row.progress.code?.isSent,
        ...(await mailCode(context, opened, sessionOf(opened, person), call)),
      },
    })
  try {
    return { ...page, newBrowser: await proceed(context, opened, person, request.code, call) }
  } catch (error) {
    if (error instanceof Superseded) return page
    const failure = failureOf(error, now)
    if (!failure) throw error
    const { userId, session } = sessionOf(opened, person)
    const isWrong = failure.error === CodeError.CODE_ERROR_WRONG
    const binding = { userId, purpose: session.id, browserId: session.browserId }
    const isOver = isWrong && !(await findCode(context, 'otp-email', binding))
    return next({
      ...row.progress,
      code: { isSent: row.progress.code?.isSent, ...failure, ...(isOver && { error: CodeError.CODE_ERROR_OVER }) },
    })
  }
}

/** The session that a code comes to. */
export interface SessionOfPerson {
  userId: string
  organizationId: string
  session: { id: string; browserId: string }
}

/** Mails a code. Returns what its page shows then. */
export async function mailCode(
  context: Context,
  { row, now }: Pick<OpenedRequest, 'row' | 'now'>,
  { session, ...user }: SessionOfPerson,
  call: Call,
): Promise<NonNullable<Progress['code']>> {
  try {
    await sendCode(context, user, { session, how: { requestId: row.id } }, call)
    return { isSent: true }
  } catch (error) {
    const failure = failureOf(error, now)
    if (!failure) throw error
    return failure
  }
}

function sessionOf({ browser }: OpenedRequest, { signedInUser }: Candidate): SessionOfPerson {
  const { userId, organizationId, sessionId } = signedInUser
  return { userId, organizationId, session: { id: sessionId, browserId: browser.id } }
}

function lacksSecondFactor({ verdict }: Candidate): boolean {
  const lack = 'missing' in verdict ? verdict.missing[0] : undefined
  return lack?.what === 'factor' && lack.kinds.includes('otp-email')
}

// Returns the new value of the cookie.
async function proceed(
  context: Context,
  opened: OpenedRequest,
  person: Candidate,
  text: string,
  call: Call,
): Promise<string> {
  const { row, browser } = opened
  const { userId, session } = sessionOf(opened, person)
  const find = () => findUserById(context, userId)
  const proved = await factors['otp-email'].check(context, { loginName: person.userName, find, text, session }, call)
  const { newValue } = await openBrowserSession(
    context,
    proved,
    browser,
    { writes: (of) => [advance(context.keys, row.id, { chosen: true }, of)], guards: [stillOpen(row.id)] },
    call,
  )
  return newValue
}

// What is not available any more is said by the page.
function failureOf(error: unknown, now: Date): NonNullable<Progress['code']> | undefined {
  if (!(error instanceof RosterError)) return undefined
  if (['FACTOR_NOT_AVAILABLE', 'SESSION_NOT_FOUND', 'CREDENTIALS_INVALID'].includes(error.reason)) return {}
  const failed = reasons[error.reason]
  const retryAt = error.retryAfter && new Date(now.getTime() + error.retryAfter * 1000).toISOString()
  return failed === undefined ? undefined : { error: failed, ...(retryAt && { retryAt }) }
}

const reasons: Record<string, CodeError> = {
  CODE_INVALID: CodeError.CODE_ERROR_WRONG,
  FACTOR_THROTTLED: CodeError.CODE_ERROR_THROTTLED,
  MAILS_THROTTLED: CodeError.CODE_ERROR_MAILS_THROTTLED,
}
