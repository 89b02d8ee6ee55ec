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
import { notice, toPage } from '../../openid/authorization/answer.ts'
import { advance, type Progress, stillOpen } from '../../openid/request/request-row.ts'
import type { Context } from '../../context.ts'
import { type PasswordCode, passwordCodeKey } from '../../directory/events/password-code.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import { changePassword } from '../../directory/passwords/change-password.ts'
import { passwordLengths } from '../../directory/passwords/password-lengths.ts'
import { rememberAddress } from '../../directory/rate-limits/known-addresses.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import type { ProvedFactor } from '../../sessions/factors/factor.ts'
import { type Refusal, refusalOf } from '../../sessions/factors/passkey/ceremony.ts'
import { provedMade } from '../../sessions/passkeys/made-passkey.ts'
import { provedPassword } from '../../sessions/factors/password/password.ts'
import { openBrowserSession } from '../../sessions/open-browser-session.ts'
import { surplusSessions } from '../../sessions/surplus.ts'
import { nameOf } from '../account/my-passkeys.ts'
import { addInPlace, beginByPasskey } from '../recovery/by-passkey.ts'
import { forgetfulCall } from '../recovery/forgetful-call.ts'
import { findForgetful } from '../recovery/request-password-reset.ts'
import { branded } from '../sign-in/branded.ts'
import { openForm, type OpenedRequest, signingIn } from '../sign-in/opened-request.ts'
import { wayBack } from '../sign-in/way-back.ts'

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
  const again = (error: RecoveryError, wait?: number) => {
    const retryAt = wait !== undefined && { retryAt: new Date(now.getTime() + wait * 1000).toISOString() }
    return next({
      keep: request.keep === 'on',
      recovery: {
        ...asked,
        error,
        ...retryAt,
        ...(request.action === 'add-passkey' && { passkey: recovery.passkey }),
      },
    })
  }
  const wait = (error: RosterError) => again(RecoveryError.RECOVERY_ERROR_THROTTLED, error.retryAfter ?? 1)
  if (request.action === 'add-passkey') {
    if (!recovery.passkey || row.isOver) return page
    try {
      const { user, passkeyId } = await addInPlace(
        context,
        opened,
        recovery.passkey,
        {
          credential: request.credential,
          name: nameOf(request.name) ?? '',
        },
        call,
      )
      // Should the rest fail, the person signs in by this page.
      await next({ loginName })
      const proved = provedMade(user, passkeyId)
      return { ...page, newBrowser: await signIn(context, opened, { proved, keep: request.keep === 'on' }, call) }
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal) return again(refusals[refusal] ?? RecoveryError.RECOVERY_ERROR_PASSKEY_INVALID)
      if (!(error instanceof RosterError)) throw error
      // Its page says so.
      if (error.reason === 'CODE_INVALID') return page
      if (error.reason === 'PASSKEYS_FULL') return again(RecoveryError.RECOVERY_ERROR_PASSKEY_INVALID)
      if (error.reason !== 'MAILS_THROTTLED') throw error
      return wait(error)
    }
  }
  if (request.action === 'passkey') {
    if (row.isOver || request.code.trim() === '') return again(RecoveryError.RECOVERY_ERROR_CODE_WRONG)
    const recovering = { userId: await findRecovering(context, opened, call), code: request.code }
    try {
      const begun = await beginByPasskey(context, recovering, call)
      if (typeof begun === 'number') return again(begun)
      return next({ keep: request.keep === 'on', recovery: { ...asked, passkey: begun } })
    } catch (error) {
      if (!(error instanceof RosterError) || error.reason !== 'CODE_INVALID') throw error
      return again(RecoveryError.RECOVERY_ERROR_CODE_WRONG)
    }
  }
  const { length } = [...request.password]
  const { passwordMin, passwordMax } = passwordLengths()
  if (length < passwordMin || length > passwordMax) return again(RecoveryError.RECOVERY_ERROR_PASSWORD_INVALID)
  const userId = await findRecovering(context, opened, call)
  try {
    const { password: newPassword, code } = request
    await changePassword(context, { userId, newPassword, field: 'password', proof: { kind: 'code', code } }, call)
  } catch (error) {
    if (!(error instanceof RosterError)) throw error
    if (error.reason === 'CODE_INVALID') return again(RecoveryError.RECOVERY_ERROR_CODE_WRONG)
    if (error.reason === 'PASSWORD_TOO_COMMON') return again(RecoveryError.RECOVERY_ERROR_PASSWORD_TOO_COMMON)
    if (error.reason !== 'PASSWORDS_THROTTLED') throw error
    return wait(error)
  }
  if (row.isOver) return passwordSet(context, opened)
  // Should the rest fail, the person signs in by this page.
  await next({ loginName })
  const user = await findUserById(context, userId)
  if (!user) return page
  const proved = provedPassword(user)
  return { ...page, newBrowser: await signIn(context, opened, { proved, keep: request.keep === 'on' }, call) }
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
