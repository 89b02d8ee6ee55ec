import { type CheckCodeRequest, CodeError, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../../context.ts'
import type { SecondFactorKind } from '../../../directory/events/human.ts'
import { findCode } from '../../../directory/secrets/one-time-codes.ts'
import { findUserById } from '../../../directory/login-names/login-user.ts'
import { toPage } from '../../../openid/authorization/answer.ts'
import type { Candidate } from '../../../openid/authorization/candidates.ts'
import {
  advance,
  closeRequest,
  type Progress,
  type RecoveryByPasskey,
  stillOpen,
} from '../../../openid/request/request-row.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import { sendCode } from '../../../sessions/factors/otp-email/send-code.ts'
import type { FactorKind } from '../../../sessions/events/session.ts'
import { maySetUp } from '../../../sessions/factors/asked-first.ts'
import type { ProvedFactor } from '../../../sessions/factors/factor.ts'
import { factors } from '../../../sessions/factors/registry.ts'
import { confirmTotp, beginTotp, type MayAdd, provedTotp } from '../../../sessions/factors/totp/set-up.ts'
import { notSetUp } from '../../../sessions/factors/totp/totp.ts'
import { trustBrowser } from '../../../sessions/browsers/trusted-browser.ts'
import { openBrowserSession } from '../../../sessions/open-browser-session.ts'
import { proveBesideCode } from '../../sign-in/recovery-by-passkey.ts'
import { setUpBinding } from '../../sign-in/factors/totp.ts'
import { goingOn, lackedSecondFactors, mayBeSetUp, mayPassOver, trustDays } from '../../sign-in/factors/ways.ts'
import { openForm, type OpenedRequest, signingIn } from '../../sign-in/opened-request.ts'
import { requestStateOf } from '../../sign-in/request-state.ts'

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
  if (row.progress.recovery?.passkey)
    return checkBesideCode(context, opened, row.progress.recovery.passkey, request, call)
  const state = await requestStateOf(context, opened, call)
  const person = 'chosen' in state ? state.chosen : undefined
  if (request.action === 'pass-over') return person && mayPassOver(person) ? next(goingOn(row.progress, person)) : page
  const lacked = person ? lackedSecondFactors(person) : []
  if (!person || lacked.length === 0) return page
  const mail = () => mailCode(context, opened, sessionOf(opened, person), call)
  switch (request.action) {
    case 'send':
      if (!lacked.includes('otp-email')) return page
      return next({ ...row.progress, way: 'otp-email', code: { isSent: row.progress.code?.isSent, ...(await mail()) } })
    case 'by-mail': {
      if (!lacked.includes('otp-email')) return page
      const code = row.progress.code?.isSent ? { isSent: true } : await mail()
      return next({ ...row.progress, way: 'otp-email', code })
    }
    case 'by-totp':
    case 'by-recovery-code': {
      const isSent = row.progress.code?.isSent
      return next({ ...row.progress, way: request.action === 'by-totp' ? 'totp' : 'recovery-code', code: { isSent } })
    }
    case 'set-up': {
      if (!mayBeSetUp(person)) return page
      await beginTotp(context, setUpBinding(person), refuseSetUp(lacked), byPerson(person, call))
      return next({ ...row.progress, way: 'totp', code: { isSent: row.progress.code?.isSent } })
    }
  }
  const kind = kindOf(request)
  if (!lacked.includes(kind)) return page
  try {
    const work = request.action === 'confirm' ? setUp : proceed
    const newBrowser = await work(context, opened, person, { kind, text: request.code, lacked }, call)
    const days = request.action === 'check' && request.trusts === 'on' ? trustDays(person, kind) : 0
    // One of the former release would ask again.
    if (days === 0 || (await isBesideFormer(context.sql))) return { ...page, newBrowser }
    const { userId, sessionId } = person.signedInUser
    return {
      ...page,
      newBrowser,
      ...(await trustBrowser(context, { userId, sessionId, kind, days }, request.trust, call)),
    }
  } catch (error) {
    if (error instanceof Superseded) return page
    const failure = failureOf(error, now)
    if (!failure) throw error
    const { userId, session } = sessionOf(opened, person)
    const isWrong = failure.error === CodeError.CODE_ERROR_WRONG
    const binding = { userId, purpose: session.id, browserId: session.browserId }
    const isOver = isWrong && kind === 'otp-email' && !(await findCode(context, 'otp-email', binding))
    return next({
      ...row.progress,
      code: { isSent: row.progress.code?.isSent, ...failure, ...(isOver && { error: CodeError.CODE_ERROR_OVER }) },
    })
  }
}

// Who forgot the password, and proves a second factor beside the mailed code. There is no session yet.
async function checkBesideCode(
  context: Context,
  opened: OpenedRequest,
  begun: RecoveryByPasskey,
  request: CheckCodeRequest,
  call: Call,
): Promise<PageAnswer> {
  const { row, now } = opened
  const page = toPage(row.id)
  const next = async (progress: Partial<Progress>) => {
    await orUnavailable(advance(context.keys, row.id, { ...row.progress, code: undefined, ...progress })(context.sql))
    return page
  }
  if (request.action === 'by-totp') return next({ way: 'totp' })
  if (request.action === 'by-recovery-code') return next({ way: 'recovery-code' })
  const kind = kindOf(request)
  if (request.action !== 'check' || kind === 'otp-email') return page
  try {
    await proveBesideCode(context, opened, begun, { kind, text: request.code }, call)
    return page
  } catch (error) {
    if (error instanceof Superseded) return page
    const failure = failureOf(error, now)
    if (!failure) throw error
    return next({ code: failure })
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

interface Typed {
  kind: SecondFactorKind
  text: string
  lacked: readonly FactorKind[]
}

// A page that says no factor has the code of a mail.
function kindOf({ action, factor }: CheckCodeRequest): SecondFactorKind {
  if (action === 'confirm') return 'totp'
  return factor === 'totp' || factor === 'recovery-code' ? factor : 'otp-email'
}

// Returns the new value of the cookie.
async function proceed(
  context: Context,
  opened: OpenedRequest,
  person: Candidate,
  { kind, text }: Typed,
  call: Call,
): Promise<string> {
  const { userId, session } = sessionOf(opened, person)
  const find = () => findUserById(context, userId)
  const proved = await factors[kind].check(context, { loginName: person.userName, find, text, session }, call)
  const newValue = await record(context, opened, proved, call)
  await proved.settle?.()
  return newValue
}

// Adds an authenticator app, whose code proves it to this session at once.
async function setUp(
  context: Context,
  opened: OpenedRequest,
  person: Candidate,
  { text, lacked }: Typed,
  call: Call,
): Promise<string> {
  const typed = { binding: setUpBinding(person), typed: text, field: 'code' }
  await confirmTotp(context, typed, refuseSetUp(lacked), byPerson(person, call))
  return record(context, opened, await provedTotp(context, person.signedInUser.userId), call)
}

async function record(
  context: Context,
  { row, browser }: OpenedRequest,
  proved: ProvedFactor,
  call: Call,
): Promise<string> {
  const { newValue } = await openBrowserSession(
    context,
    proved,
    browser,
    { writes: (of) => [advance(context.keys, row.id, goingOn(row.progress), of)], guards: [stillOpen(row.id)] },
    call,
  )
  return newValue
}

// The person may have got a factor meanwhile, or a password from the mailbox.
function refuseSetUp(lacked: readonly FactorKind[]): MayAdd {
  return (human) => {
    if (!maySetUp(lacked, human)) throw notSetUp()
  }
}

function byPerson({ signedInUser: { userId } }: Candidate, { requestId, deadline }: Call) {
  return { caller: { ...anonymous, userId }, requestId, deadline }
}

// What is not available any more is said by the page.
function failureOf(error: unknown, now: Date): NonNullable<Progress['code']> | undefined {
  if (!(error instanceof RosterError)) return undefined
  if (['FACTOR_NOT_AVAILABLE', 'FACTOR_EXISTS', 'SESSION_NOT_FOUND', 'CREDENTIALS_INVALID'].includes(error.reason))
    return {}
  const failed = reasons[error.reason]
  const retryAt = error.retryAfter && new Date(now.getTime() + error.retryAfter * 1000).toISOString()
  return failed === undefined ? undefined : { error: failed, ...(retryAt && { retryAt }) }
}

const reasons: Record<string, CodeError> = {
  CODE_INVALID: CodeError.CODE_ERROR_WRONG,
  FACTOR_THROTTLED: CodeError.CODE_ERROR_THROTTLED,
  FACTOR_LOCKED: CodeError.CODE_ERROR_LOCKED,
  MAILS_THROTTLED: CodeError.CODE_ERROR_MAILS_THROTTLED,
}
