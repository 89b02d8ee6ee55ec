// What a reader of the contract expects of sign-in. It is small, and knows no code of Roster's.

import { type FirstFactors, hasFirst, type Provider } from './provider-rules.ts'

export type Name = 'ada' | 'bob'
/** `own`: a first party of Ada's organization. `asking`: asks everybody, and its project lets Bob in by a grant alone. */
export type Application = 'own' | 'asking'

export interface Model {
  /** Rises with each command. */
  tick: number
  /** In seconds; and those that had passed when the case began. */
  time: number
  before: number
  users: Record<Name, User>
  applications: Record<Application, { isOpen: boolean; closings: number; closedBy: string }>
  /** Given with scopes, or without one. */
  consents: Record<`${Name} ${Application}`, { given: boolean; scopes: string[]; withdrawals: number }>
  browsers: Browser[]
  authorizations: Authorization[]
  provider: Provider
  /** Passwords that were wrong, or of somebody who may not sign in. */
  failures: number
}

export interface User {
  /** Locked, deactivated or removed, by the operation that did it. */
  locked: boolean
  lockedBy: string
  granted: boolean
  signOuts: number
  /** Of the organization. What began before a closing is over. */
  organizationIsOpen: boolean
  organizationClosings: number
  /** An authenticator app, with recovery codes, of the user's own. */
  hasApp: boolean
  /** The policy demands an app, so recovery codes do not serve. */
  needsApp: boolean
  /** When recovery codes were used, of the last ten minutes: five count. */
  usedCodes: number[]
}

export interface Browser {
  sessions: Session[]
  lastUsed: Partial<Record<Application, Session>>
  /** Those with a form, the newest first. */
  pages: Page[]
}

export interface Session {
  user: Name
  /** The tick. */
  began: number
  /** The tick of its last password. */
  checked: number
  until: number
  signOuts: number
  organizationClosings: number
  ended: boolean
  first: FirstFactors
  /** A second factor was checked. */
  second: boolean
}

export interface Request {
  application: Application
  prompt: string
  scopes: string[]
  /** The tick. */
  began: number
  until: number
  restarts: boolean
  session?: Session | undefined
  choseAccount?: boolean
  asksName?: boolean
  /** A wrong password was typed. */
  failed?: boolean
  /** The person chose a recovery code in place of the app. */
  way?: 'recovery code'
  decision?: 'allowed' | 'denied'
  answer?: 'given' | 'cancelled'
  /** The password was right just now. */
  proved?: boolean
  /** What a password got for it at once: the same password gets it again. */
  given?: Authorization
}

export interface Page {
  kind: string
  request: Request
  /** Those that can be chosen. */
  sessions: Session[]
  /** Whom the page asks alone. */
  person: Name | undefined
}

export interface Authorization {
  user: Name
  application: Application
  session: Session
  openid: boolean
  offline: boolean
  /** As its session was when it was given. */
  first: FirstFactors
  second: boolean
  at: number
  stoodOn: string
  redeemed?: number
  refreshed?: number
  ended?: boolean
}

/** What comes next: a page; or an answer to the application, with an error, or a code for these scopes of a session. */
export interface Next {
  kind: string
  session?: Session
  /** The scopes that a page asks for. */
  lacking?: string[]
  error?: string
  scopes?: string[]
}

export const lifetimes = { code: 60, request: 3600, session: 12 * 3600, refresh: 30 * 86_400 }

export function isAlive({ users, time }: Model, session: Session): boolean {
  const { locked, signOuts, organizationClosings } = users[session.user]
  return (
    !session.ended &&
    time < session.until &&
    !locked &&
    session.signOuts === signOuts &&
    session.organizationClosings === organizationClosings
  )
}

export function mayCome({ users }: Model, user: Name, application: Application): boolean {
  return maySignIn(users[user]) && (application === 'own' || user === 'ada' || users[user].granted)
}

export function maySignIn({ locked, organizationIsOpen }: User): boolean {
  return !locked && organizationIsOpen
}

export function people(model: Model, browser: Browser): Session[] {
  return browser.sessions.filter((session) => isAlive(model, session))
}

/** What the page of an open request shows, or what its application gets. */
export function next(model: Model, browser: Browser, request: Request): Next {
  const { application, prompt, asksName, failed, session } = request
  if (!model.applications[application].isOpen) return { kind: 'client unknown' }
  if (request.decision === 'denied') return { kind: 'answer', error: 'access_denied' }
  const here = people(model, browser)
  const able = here.filter(({ user }) => mayCome(model, user, application))
  const alone = able.length === 1 && prompt !== 'select_account' ? able[0] : undefined
  const chosen = asksName ? undefined : (here.find((each) => each === session) ?? alone)
  if (!chosen && !asksName && able.length > 0) return { kind: 'accounts' }
  if (!chosen) return { kind: asksName || failed || here.length === 0 ? 'sign in' : 'no access' }
  if (!able.includes(chosen)) return { kind: 'no access' }
  if (prompt === 'select_account' && !request.choseAccount) return { kind: 'accounts' }
  if (!hasFirst(model, chosen)) return { kind: 'password', session: chosen }
  if (lacksFactor(model, chosen)) return { kind: factorPage(model, chosen, request), session: chosen }
  if (prompt === 'login' && chosen.checked < request.began) return { kind: 'password', session: chosen }
  const lacking = lackingScopes(model, chosen.user, request)
  if (lacking) return { kind: 'consent', session: chosen, lacking }
  return { kind: 'answer', session: chosen, scopes: request.scopes }
}

// None of them: the first use of the application is to be allowed. Undefined: nothing is.
function lackingScopes(model: Model, user: Name, request: Request): string[] | undefined {
  const { application, prompt, scopes, decision } = request
  if (prompt === 'consent' && decision !== 'allowed') return scopes
  if (application === 'own' && user === 'ada') return undefined
  const consent = model.consents[`${user} ${application}`]
  const lacking = scopes.filter((scope) => !consent.scopes.includes(scope))
  return consent.given && lacking.length === 0 ? undefined : lacking
}

function factorPage({ users }: Model, { user }: Session, { way }: Request): string {
  const { hasApp, needsApp } = users[user]
  if (!hasApp) return 'set up app'
  return needsApp ? 'app code' : (way ?? 'app code')
}

/** Whether a session, or what an application got by it, lacks a second factor now. Recovery codes were its second one. */
export function lacksFactor({ users }: Model, { user, second }: { user: Name; second: boolean }): boolean {
  return users[user].needsApp || (users[user].hasApp && !second)
}

function isKnown({ consents }: Model, user: Name, application: Application): boolean {
  return (application === 'own' && user === 'ada') || consents[`${user} ${application}`].given
}

/** What an application gets that wants no page. */
export function silently(model: Model, browser: Browser, application: Application, scopes: string[]): Next {
  if (!model.applications[application].isOpen) return { kind: 'client unknown' }
  const here = people(model, browser)
  const able = here.filter(({ user }) => mayCome(model, user, application))
  const last = able.find((session) => session === browser.lastUsed[application])
  const session = last ?? able[0]
  if (!last && able.length > 1) return { kind: 'answer', error: 'account_selection_required' }
  // Who did not let in an application is not told apart from others by it.
  const asked = session ? [session] : here
  if (asked.some(({ user }) => !isKnown(model, user, application))) return { kind: 'answer', error: 'consent_required' }
  if (!session) return { kind: 'answer', error: 'login_required' }
  if (!hasFirst(model, session) || lacksFactor(model, session)) return { kind: 'answer', error: 'login_required' }
  const lacking = lackingScopes(model, session.user, { application, scopes, prompt: 'none' } as Request)
  const left = scopes.filter((scope) => scope !== 'offline_access')
  if (lacking?.join() === 'offline_access') return { kind: 'answer', session, scopes: left }
  return lacking ? { kind: 'answer', error: 'consent_required' } : { kind: 'answer', session, scopes }
}

/** All that has to be as it was when a code was given. */
export function standsOn(model: Model, user: Name, application: Application): string {
  const { signOuts, organizationClosings } = model.users[user]
  const { isOpen, closings } = model.applications[application]
  return JSON.stringify([
    signOuts,
    organizationClosings,
    isOpen,
    closings,
    model.consents[`${user} ${application}`].withdrawals,
  ])
}

/** Whether what an application has of a person opens anything. */
export function opens(model: Model, authorization: Authorization): boolean {
  return stands(model, authorization) && hasFirst(model, authorization) && !lacksFactor(model, authorization)
}

/** Whether nothing has ended it: it may lack a factor, a first one too, now. A code needs its session; so does what is not offline. */
export function stands(model: Model, authorization: Authorization): boolean {
  const { user, application, session, offline, stoodOn, ended, redeemed } = authorization
  const needsSession = redeemed === undefined || !offline
  return (
    !ended &&
    stoodOn === standsOn(model, user, application) &&
    mayCome(model, user, application) &&
    (!needsSession || isAlive(model, session))
  )
}
