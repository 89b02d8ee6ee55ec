import { NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { notice } from '../../openid/authorization/answer.ts'
import { branded } from '../sign-in/branded.ts'
import { type Candidate, findCandidates } from '../../openid/authorization/candidates.ts'
import type { Visit } from '../../openid/authorization/begin.ts'
import { readOwnRequest, toAccount } from '../sign-in/own-account.ts'
import { requestFacts } from '../../openid/request/request-facts.ts'
import { type Browser, findBrowser } from '../../sessions/browsers/session-cookie.ts'
import { isFormToken } from '../../sessions/browsers/form-token.ts'
import type { Context } from '../../context.ts'
import { isAllowed } from '../../openid/judge/judge.ts'
import { markOfLink, type MarkOfLink } from '../../sessions/mark-of-link.ts'
import { maxAgeOf, type Section } from './sections.ts'

/** A form of the page of an account. */
export interface AccountForm {
  /** The value of the cookie. */
  browser: string
  userId: string
  formToken: string
  uiLocales: string
}

/** An account that is signed in in this browser. */
export interface OpenAccount {
  userId: string
  person: Candidate
  browser: Browser
  /** The mark of what the person sets up. */
  mark: MarkOfLink
  /** Made by its person. */
  call: Call
  /** The way back to the page of the form, or to another one. `outcome`: what it says then. */
  page: PageAnswer
  to(section: Section, outcome: string): PageAnswer
}

/**
 * The account of a form on this page; or the answer, where it is not signed in here any more, or not of late where that
 * is needed. Its page leads to the one for name and password then. So does the former value of the cookie, whose browser
 * asks for the page with the present one.
 */
export async function openAccount(
  context: Context,
  { browser: value, userId, formToken, uiLocales }: AccountForm,
  section: Section,
  call: Call,
): Promise<OpenAccount | { answer: PageAnswer }> {
  const { browser, now } = await findBrowser(context.sql, value)
  const page = toAccount(uiLocales, section)
  if (!browser?.isPresent) return { answer: page }
  if (!isFormToken(context.keys, browser.id, formOf(userId), formToken))
    return { answer: await branded(context, notice(NoticeReason.NOTICE_REASON_FORM_INVALID)) }
  const people = await findPeople(context, { browser, now }, section, call)
  const person = people.find(({ signedInUser, verdict }) => signedInUser.userId === userId && isAllowed(verdict))
  if (!person) return { answer: page }
  const to = (next: Section, outcome: string) => toAccount(uiLocales, next, outcome)
  const { user, verdict } = person
  const mark = markOfLink(user.human, isAllowed(verdict) ? verdict.factors : [], now)
  return { userId, person, browser, mark, call: madeBy(person, call), page, to }
}

/** What the form token of an account is bound to, beside the browser. No request has such an id. */
export function formOf(userId: string): string {
  return `account-${userId}`
}

/** Who is signed in, in this browser. What is missing for a page is what `judge` says. */
export function findPeople(
  context: Context,
  visit: Omit<Visit, 'value'>,
  section: Section,
  call: Call,
): Promise<Candidate[]> {
  const { asked, ...roster } = readOwnRequest({ prompt: '', maxAge: maxAgeOf(section) })
  const facts = requestFacts(asked, visit.now, {})
  return findCandidates(context, roster, { ...visit, stage: 'page', facts }, call)
}

/** The call, as the person makes it: what the operations of sessions and consents let every user do follows from that. */
export function madeBy({ signedInUser: { userId, organizationId, sessionId } }: Candidate, call: Call): Call {
  return { ...call, organizationId, caller: { ...anonymous, userId, human: true, organizationId, sessionId } }
}
