import type { RemoveMeRequest } from '#gen/roster/users/v1/account_service'
import { NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { deleteUser } from '../../directory/operations/user/delete-user.ts'
import { notice } from '../../openid/authorization/answer.ts'
import { renewAtOnce } from '../../sessions/browsers/session-cookie.ts'
import { brandedFor } from '../sign-in/branded.ts'
import { openAccount } from './open-account.ts'

/** What the page says of each refusal. Of owners, one has to be left for an organization, and for the instance. */
const outcomes = new Map([
  ['LAST_ORG_OWNER', 'last-owner'],
  ['LAST_IAM_OWNER', 'last-owner'],
  ['EMAIL_CHANGE_REVOCABLE', 'address-new'],
])

export async function removeMe(context: Context, request: RemoveMeRequest, call: Call): Promise<PageAnswer> {
  const opened = await openAccount(context, request, 'removal', call)
  if ('answer' in opened) return opened.answer
  const { userId, person, browser, to } = opened
  try {
    await deleteUser(context, { userId, forgetNow: false }, opened.call)
  } catch (error) {
    const outcome = error instanceof RosterError && outcomes.get(error.reason)
    if (outcome) return to('removal', outcome)
    throw error
  }
  const newBrowser = await renewAtOnce(context.sql, browser)
  const { organizationId } = person.signedInUser
  const page = await brandedFor(context, notice(NoticeReason.NOTICE_REASON_REMOVED), organizationId)
  return { ...page, newBrowser }
}
