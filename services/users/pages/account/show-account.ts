import type { ShowAccountRequest } from '#gen/roster/users/v1/account_service'
import type { AccountPage, PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { findPeople, formOf, madeBy } from './open-account.ts'
import { show } from '../../openid/authorization/answer.ts'
import { type Candidate, chooseSilently } from '../../openid/authorization/candidates.ts'
import { branded } from '../sign-in/branded.ts'
import { storeRequest } from '../../openid/authorization/begin.ts'
import { accountOf } from '../sign-in/pages.ts'
import { ownAccountParameters } from '../../openid/request/parameters.ts'
import { findBrowser } from '../../sessions/browsers/session-cookie.ts'
import { formToken } from '../../sessions/browsers/form-token.ts'
import type { Context } from '../../context.ts'
import { isAllowed } from '../../openid/judge/judge.ts'
import { searchUserConsents } from '../../openid/consents/search-user-consents.ts'
import { searchUserSessions } from '../../sessions/operations/search-user-sessions.ts'

export async function showAccount(context: Context, request: ShowAccountRequest, call: Call): Promise<PageAnswer> {
  const visit = { value: request.browser, ...(await findBrowser(context.sql, request.browser)) }
  const people = await findPeople(context, visit, call)
  const found = request.prompt === '' ? chooseSilently(people) : undefined
  const chosen = found === 'several' ? undefined : found
  if (!chosen || !isAllowed(chosen.verdict))
    return storeRequest(context, ownAccountParameters(request), visit, { candidates: people, chosen }, call)
  const { userId, browserId } = chosen.signedInUser
  return {
    ...(await branded(context, show({ $case: 'account', value: await accountPage(context, chosen, request, call) }))),
    formToken: formToken(context.keys, browserId!, formOf(userId)),
    uiLocales: request.uiLocales,
  }
}

async function accountPage(
  context: Context,
  person: Candidate,
  { sessionsCursor, consentsCursor }: ShowAccountRequest,
  call: Call,
): Promise<AccountPage> {
  const { userId } = person.signedInUser
  const own = madeBy(person, call)
  const [sessions, consents] = await Promise.all([
    partOf(sessionsCursor, (paging) => searchUserSessions(context, { userId, ...paging }, own)),
    partOf(consentsCursor, (paging) => searchUserConsents(context, { userId, ...paging }, own)),
  ])
  return { account: accountOf(person), userId, email: person.email, sessions, consents }
}

/** So many of each list that the page stays small, whatever names they have. */
const limit = 8

// The cursor may be that of an account that was shown before.
async function partOf<Part extends { total?: number | undefined }>(
  cursor: string,
  find: (paging: { limit: number; cursor: string; withTotal: boolean }) => Promise<Part>,
): Promise<Part & { total: number; goesOn: boolean }> {
  try {
    const part = await find({ limit, cursor, withTotal: true })
    return { ...part, total: part.total ?? 0, goesOn: cursor !== '' }
  } catch (error) {
    if (cursor !== '' && error instanceof RosterError && error.reason === 'CURSOR_INVALID') return partOf('', find)
    throw error
  }
}
