import { ShowAccountRequest as AsksForAccount, type ShowAccountRequest } from '#gen/roster/users/v1/account_service'
import type { AccountPage, PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { findPeople, formOf, madeBy } from './open-account.ts'
import { accountSections } from './account-sections.ts'
import { maxAgeOf, sectionOf } from './sections.ts'
import { show } from '../../openid/authorization/answer.ts'
import { type Candidate, chooseSilently } from '../../openid/authorization/candidates.ts'
import { brandedFor } from '../sign-in/branded.ts'
import { storeRequest } from '../../openid/authorization/begin.ts'
import { accountOf } from '../sign-in/pages.ts'
import { scopeOfHint } from '../../openid/request/read-scopes.ts'
import { ownAccountParameters } from '../../openid/request/parameters.ts'
import { findBrowser } from '../../sessions/browsers/session-cookie.ts'
import { formToken } from '../../sessions/browsers/form-token.ts'
import type { Context } from '../../context.ts'
import { isAlive } from '../../directory/events/code.ts'
import { isAllowed } from '../../openid/judge/judge.ts'

export async function showAccount(context: Context, request: ShowAccountRequest, call: Call): Promise<PageAnswer> {
  const section = sectionOf(request.section)
  const visit = { value: request.browser, ...(await findBrowser(context.sql, request.browser)) }
  const people = await findPeople(context, visit, section, call)
  const found = request.prompt === '' ? chooseSilently(people) : undefined
  const chosen = found === 'several' ? undefined : found
  if (!chosen || !isAllowed(chosen.verdict)) {
    const scope = request.org === '' ? '' : scopeOfHint(request.org)
    const parameters = ownAccountParameters({ ...request, scope, maxAge: maxAgeOf(section), state: section })
    return storeRequest(context, parameters, visit, { candidates: people, chosen }, call)
  }
  return answerOf(context, chosen, request, call)
}

type Shown = Pick<ShowAccountRequest, 'section' | 'uiLocales'> &
  Partial<ShowAccountRequest> & {
    /** Made a moment ago. */
    recoveryCodes?: string[]
  }

/** A page of the account of a person. */
export async function answerOf(
  context: Context,
  person: Candidate,
  { recoveryCodes, ...asked }: Shown,
  call: Call,
): Promise<PageAnswer> {
  const { userId, organizationId, browserId } = person.signedInUser
  const request = { ...nothingAsked, ...asked }
  const value = await accountPage(context, person, request, call)
  if (recoveryCodes) value.secondFactors = { ...value.secondFactors!, recoveryCodes }
  const page = show({ $case: 'account', value })
  return {
    ...(await brandedFor(context, page, organizationId)),
    formToken: formToken(context.keys, browserId!, formOf(userId)),
    uiLocales: request.uiLocales,
  }
}

const nothingAsked = AsksForAccount.decode(new Uint8Array())

async function accountPage(
  context: Context,
  person: Candidate,
  request: ShowAccountRequest,
  call: Call,
): Promise<AccountPage> {
  const section = sectionOf(request.section)
  const { human } = person.user
  const now = await orUnavailable(readNow(context.sql))
  return {
    account: accountOf(person),
    userId: person.signedInUser.userId,
    email: person.email,
    section,
    outcome: request.outcome,
    emailVerified: human?.isVerified === true,
    emailCodeMailed: isAlive(human?.code, now) && human.code.delivery !== 'returned',
    sessions: undefined,
    consents: undefined,
    profile: undefined,
    passwordMin: 0,
    passwordMax: 0,
    forgetAfterDays: 0,
    takeBackHours: 0,
    signIns: undefined,
    secondFactors: undefined,
    providers: [],
    passkeys: undefined,
    ...(await accountSections[section](context, person, request, madeBy(person, call))),
  }
}
