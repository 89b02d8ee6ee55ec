import { type ChooseNewPasswordRequest, NewPasswordError, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { changePassword } from '../../../directory/passwords/change-password.ts'
import { passwordLengths } from '../../../directory/passwords/password-lengths.ts'
import { toPage } from '../../../openid/authorization/answer.ts'
import { advance, closeRequest, type Progress } from '../../../openid/request/request-row.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import { madeBy } from '../../account/open-account.ts'
import { lacksNewPassword } from '../../sign-in/new-password-page.ts'
import { openForm, signingIn } from '../../sign-in/opened-request.ts'
import { requestStateOf } from '../../sign-in/request-state.ts'

/** Sets another password in place of one that somebody else has set, in the sign-in that it holds up. */
export async function chooseNewPassword(
  context: Context,
  { password: newPassword, ...request }: ChooseNewPasswordRequest,
  call: Call,
): Promise<PageAnswer> {
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
  const person =
    'people' in state ? state.people.find((one) => one.signedInUser.sessionId === row.sessionId) : undefined
  // Another tab has set it, or something else is missing by now: the page says what comes next.
  if (!person || !lacksNewPassword(person)) return page
  const again = ({ error, retryAt }: Failure) =>
    next({ ...row.progress, newPassword: { error, ...(retryAt && { retryAt }) } })
  const { length } = [...newPassword]
  const { passwordMin, passwordMax } = passwordLengths()
  if (length < passwordMin || length > passwordMax) return again({ error: NewPasswordError.NEW_PASSWORD_ERROR_INVALID })
  const { userId } = person.signedInUser
  try {
    const change = {
      userId,
      newPassword,
      field: 'password',
      proof: { kind: 'must-change', gone: new Superseded() },
    } as const
    await changePassword(context, change, madeBy(person, call))
    return next({ ...row.progress, newPassword: undefined })
  } catch (error) {
    if (error instanceof Superseded) return page
    const failure = failureOf(error, now)
    if (!failure) throw error
    return again(failure)
  }
}

interface Failure {
  error: NewPasswordError
  /** RFC 3339. */
  retryAt?: string | undefined
}

// What the page says. Undefined: the error is another one.
function failureOf(error: unknown, now: Date): Failure | undefined {
  if (!(error instanceof RosterError)) return undefined
  const found = errors[error.reason]
  if (found !== NewPasswordError.NEW_PASSWORD_ERROR_THROTTLED) return found === undefined ? undefined : { error: found }
  return { error: found, retryAt: new Date(now.getTime() + (error.retryAfter ?? 1) * 1000).toISOString() }
}

const errors: Record<string, NewPasswordError> = {
  PASSWORD_TOO_COMMON: NewPasswordError.NEW_PASSWORD_ERROR_TOO_COMMON,
  PASSWORD_UNCHANGED: NewPasswordError.NEW_PASSWORD_ERROR_UNCHANGED,
  PASSWORDS_THROTTLED: NewPasswordError.NEW_PASSWORD_ERROR_THROTTLED,
}
