import type { ChangeMyTOTPRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { mayAddBy } from '../../sessions/change-factors.ts'
import { changeFactors } from '../../sessions/factors/change.ts'
import { removal } from '../../sessions/factors/removal.ts'
import { beginTotp, confirmTotp, provedTotp } from '../../sessions/factors/totp/set-up.ts'
import { requireFreshSession } from '../../sessions/fresh-session.ts'
import { leavingEnough } from '../../sessions/passkeys/last-factor.ts'
import { openBrowserSession } from '../../sessions/open-browser-session.ts'
import { setUpBinding } from '../sign-in/factors/totp.ts'
import { openAccount, type OpenAccount } from './open-account.ts'

const outcomes: Record<string, string> = {
  CODE_INVALID: 'app-code-wrong',
  // In another tab.
  FACTOR_EXISTS: 'factor-added',
  FACTOR_NOT_FOUND: 'factor-removed',
  FACTOR_NOT_AVAILABLE: 'factor-refused',
  MAILBOX_ALONE: 'factor-refused',
  LAST_FACTOR: 'factor-last',
}

export async function changeMyTOTP(
  context: Context,
  { action, code, ...form }: ChangeMyTOTPRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openAccount(context, form, 'authenticator', call)
  if ('answer' in opened) return opened.answer
  const { to } = opened
  try {
    if (action === 'remove') {
      await remove(context, opened)
      return to('sign-in', 'factor-removed')
    }
    if (action === 'confirm')
      return { ...to('sign-in', 'factor-added'), newBrowser: await confirm(context, opened, code) }
    const own = await requireFreshSession(context, opened.userId, opened.call)
    await beginTotp(context, setUpBinding(opened.person), mayAddBy(own), opened.call)
    return to('authenticator', '')
  } catch (error) {
    const outcome = error instanceof RosterError ? outcomes[error.reason] : undefined
    if (outcome === undefined) throw error
    return to(outcome === 'app-code-wrong' ? 'authenticator' : 'sign-in', outcome)
  }
}

// Returns the new value of the cookie: the session has one factor more, or the next page would ask for it.
async function confirm(
  context: Context,
  { userId, person, browser, call }: OpenAccount,
  typed: string,
): Promise<string> {
  const own = await requireFreshSession(context, userId, call)
  const code = { binding: setUpBinding(person), typed, field: 'code' }
  await confirmTotp(context, code, mayAddBy(own), call)
  const proved = await provedTotp(context, userId)
  const { newValue } = await openBrowserSession(context, proved, browser, { writes: () => [], guards: [] }, call)
  return newValue
}

async function remove(context: Context, { userId, call }: OpenAccount): Promise<void> {
  await requireFreshSession(context, userId, call)
  const leaves = await leavingEnough(context, userId, call)
  const decide = (human: Parameters<typeof removal>[1]) => removal(userId, human, 'totp', leaves)
  await changeFactors(context, { userId, told: 'factor-removed', decide }, call)
}
