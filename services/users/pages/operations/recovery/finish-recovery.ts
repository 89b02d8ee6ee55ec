import { randomUUID } from 'node:crypto'
import {
  type FinishRecoveryRequest,
  NoticeReason,
  type PageAnswer,
  RecoveryError,
} from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { notice, toPage } from '../../../openid/authorization/answer.ts'
import { advance, type Progress, stillOpen } from '../../../openid/request/request-row.ts'
import type { Context } from '../../../context.ts'
import { type PasswordCode, passwordCodeKey } from '../../../directory/events/password-code.ts'
import { findUserById } from '../../../directory/login-names/login-user.ts'
import { changePassword } from '../../../directory/passwords/change-password.ts'
import { codeInvalid } from '../../../directory/passwords/reset-code.ts'
import { passwordLengths } from '../../../directory/passwords/password-lengths.ts'
import { rememberAddress } from '../../../directory/rate-limits/known-addresses.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import type { ProvedFactor } from '../../../sessions/factors/factor.ts'
import { type Refusal, refusalOf } from '../../../sessions/factors/passkey/ceremony.ts'
import { provedMade } from '../../../sessions/passkeys/made-passkey.ts'
import { provedPassword } from '../../../sessions/factors/password/password.ts'
import { openBrowserSession } from '../../../sessions/open-browser-session.ts'
import { surplusSessions } from '../../../sessions/surplus.ts'
import { nameOf } from '../../account/my-passkeys.ts'
import { addInPlace, beginByPasskey } from '../../sign-in/recovery-by-passkey.ts'
import { forgetfulCall } from '../../recovery/forgetful-call.ts'
import { findForgetful } from '../../recovery/request-password-reset.ts'
import { branded } from '../../sign-in/branded.ts'
import { openForm, type OpenedRequest, signingIn } from '../../sign-in/opened-request.ts'
import { wayBack } from '../../sign-in/way-back.ts'

/** Sets the new password, or adds a passkey in its place, by a code that this request asked for, and signs the person in. */
export async function finishRecovery(
  context: Context,
  request: FinishRecoveryRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn, { alsoOver: true })
  if ('answer' in opened) return opened.answer
  const { row, now } = opened
  const page = toPage(row.id)
  const { recovery } = row.progress
  if (!recovery?.isAsked) return page
  const next = async (progress: Progress) => {
    const { chosen, asksName } = row.progress
    await orUnavailable(advance(context.keys, row.id, { chosen, asksName, ...progress })(context.sql))
    return page
  }
  const { loginName, userId: known, codeIds } = recovery
  if (request.action === 'back') return next({ recovery: { loginName, userId: known, codeIds } })
  const asked = { loginName, userId: known, codeIds, isAsked: true }
  if (request.action === 'password') return next({ recovery: asked })
  const keep = request.keep === 'on'
  const again = ({ error, wait }: Failure) => {
    const retryAt = wait !== undefined && { retryAt: new Date(now.getTime() + wait * 1000).toISOString() }
    // What was proved for a passkey counts still.
    const passkey = request.action === 'add-passkey' && { passkey: recovery.passkey }
    return next({ keep, recovery: { ...asked, error, ...retryAt, ...passkey } })
  }
  try {
    if (request.action === 'passkey') {
      if (row.isOver || request.code.trim() === '') throw codeInvalid()
      const userId = await findRecovering(context, opened, call)
      const begun = await beginByPasskey(context, { userId, code: request.code }, call)
      return typeof begun === 'number'
        ? again({ error: begun })
        : next({ keep, recovery: { ...asked, passkey: begun } })
    }
    const proved = await (request.action === 'add-passkey' ? addPasskey : setPassword)(context, opened, request, call)
    if (!proved) return page
    if (row.isOver) return passwordSet(context, opened)
    // Should the rest fail, the person signs in by this page.
    await next({ loginName })
    return { ...page, newBrowser: await signIn(context, opened, { proved, keep }, call) }
  } catch (error) {
    const failure = failureOf(error)
    if (!failure) throw error
    return again(failure)
  }
}

// Undefined: nobody is signed in by it.
async function setPassword(
  context: Context,
  opened: OpenedRequest,
  { password: newPassword, code }: FinishRecoveryRequest,
  call: Call,
): Promise<ProvedFactor | undefined> {
  const { length } = [...newPassword]
  const { passwordMin, passwordMax } = passwordLengths()
  if (length < passwordMin || length > passwordMax) throw passwordInvalid
  const userId = await findRecovering(context, opened, call)
  await changePassword(context, { userId, newPassword, field: 'password', proof: { kind: 'code', code } }, call)
  const user = await findUserById(context, userId)
  return user && provedPassword(user)
}

const passwordInvalid = new Error('a password of another length')

// Undefined: what it began with counts no more, and the page says so.
async function addPasskey(
  context: Context,
  opened: OpenedRequest,
  { credential, name: typed }: FinishRecoveryRequest,
  call: Call,
): Promise<ProvedFactor | undefined> {
  const { isOver, progress } = opened.row
  const begun = progress.recovery?.passkey
  if (!begun || isOver) return undefined
  const sent = { credential, name: nameOf(typed) ?? '' }
  const added = await addInPlace(context, opened, begun, sent, call).catch((error: unknown) => {
    if (error instanceof RosterError && error.reason === 'CODE_INVALID') return undefined
    throw error
  })
  return added && provedMade(added.user, added.passkeyId)
}

interface Failure {
  error: RecoveryError
  /** Seconds. */
  wait?: number
}

// What the page says. Undefined: the error is another one.
function failureOf(error: unknown): Failure | undefined {
  if (error === passwordInvalid) return { error: RecoveryError.RECOVERY_ERROR_PASSWORD_INVALID }
  if (!(error instanceof RosterError)) return undefined
  const refusal = refusalOf(error)
  if (refusal) return { error: refusals[refusal] ?? RecoveryError.RECOVERY_ERROR_PASSKEY_INVALID }
  const found = errors[error.reason]
  if (found === undefined) return undefined
  return found === RecoveryError.RECOVERY_ERROR_THROTTLED
    ? { error: found, wait: error.retryAfter ?? 1 }
    : { error: found }
}

const errors: Record<string, RecoveryError> = {
  CODE_INVALID: RecoveryError.RECOVERY_ERROR_CODE_WRONG,
  PASSWORD_TOO_COMMON: RecoveryError.RECOVERY_ERROR_PASSWORD_TOO_COMMON,
  PASSWORD_UNCHANGED: RecoveryError.RECOVERY_ERROR_PASSWORD_TOO_COMMON,
  PASSWORDS_THROTTLED: RecoveryError.RECOVERY_ERROR_THROTTLED,
  MAILS_THROTTLED: RecoveryError.RECOVERY_ERROR_THROTTLED,
  PASSKEYS_FULL: RecoveryError.RECOVERY_ERROR_PASSKEY_INVALID,
}

const refusals: Partial<Record<Refusal, RecoveryError>> = {
  late: RecoveryError.RECOVERY_ERROR_PASSKEY_LATE,
  unverified: RecoveryError.RECOVERY_ERROR_PASSKEY_UNVERIFIED,
  'not-allowed': RecoveryError.RECOVERY_ERROR_PASSKEY_NOT_ALLOWED,
}

// The person whose living code was asked for here. Otherwise an id of no user: it takes the same work, and no try of
// another's code is counted.
async function findRecovering(context: Context, opened: OpenedRequest, call: Call): Promise<string> {
  const { loginName, userId, codeIds = [] } = opened.row.progress.recovery!
  const [unknown, within] = [randomUUID(), await forgetfulCall(context, opened, call)]
  const found = (await findForgetful(context, { loginName, userId }, within))?.userId ?? unknown
  const { type, id } = passwordCodeKey(found)
  const code = await context.store.load<PasswordCode>(type, id)
  return code && codeIds.includes(code.state.codeId) ? found : unknown
}

async function passwordSet(context: Context, { row: { parameters } }: OpenedRequest): Promise<PageAnswer> {
  const applicationOrigin = await wayBack(context, parameters)
  return branded(context, notice(NoticeReason.NOTICE_REASON_PASSWORD_SET, { applicationOrigin }), parameters)
}

// Returns the new value of the cookie; empty, where the person has to sign in.
async function signIn(
  context: Context,
  { row, browser }: OpenedRequest,
  { proved, keep }: { proved: ProvedFactor; keep: boolean },
  call: Call,
): Promise<string> {
  const { userId } = proved.user
  const along = {
    writes: (of: { sessionId: string; userId: string }) => [advance(context.keys, row.id, { chosen: true }, of)],
    guards: [stillOpen(row.id)],
    clientId: row.parameters.clientId,
    keep,
  }
  try {
    const { newValue } = await openBrowserSession(context, proved, browser, along, call)
    await Promise.all([
      surplusSessions.settle(context, userId),
      rememberAddress(context, userId, call.clientAddress, undefined),
    ]).catch((error: unknown) => context.log.warn({ err: error }, 'work after a new password failed'))
    return newValue
  } catch (error) {
    const isRefused = error instanceof RosterError && error.reason === 'CREDENTIALS_INVALID'
    if (error instanceof Superseded || isRefused) return ''
    throw error
  }
}
