import { type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { SetSessionRequest as setCodec } from '#gen/roster/users/v1/session_service'
import { AddInvitationRequest } from '#gen/roster/users/v1/invitation_service'
import { shiftClock } from '#test/support/shift-clock'
import { deriveCode } from '../../../directory/email/code.ts'
import { createInviteCode } from '../../../directory/operations/user/create-invite-code.ts'
import { keepLoginAddresses } from '../../../directory/login-names/login-addresses.ts'
import { findCode } from '../../../directory/secrets/one-time-codes.ts'
import { addInvitation } from '../../../pages/invitation/add-invitation.ts'
import { acceptInvitation } from '../../../pages/operations/invitation/accept-invitation.ts'
import { chooseNewPassword } from '../../../pages/operations/sign-in/choose-new-password.ts'
import { checkCode } from '../../../pages/operations/sign-in/check-code.ts'
import { openInvitation } from '../../../pages/operations/invitation/open-invitation.ts'
import { Forgetful } from '../../../pages/recovery/testing/forgetful.ts'
import {
  allow,
  asked as passkeyAsked,
  call,
  users,
  Visitor as Holder,
} from '../../../sessions/factors/passkey/testing/world.ts'
import { newPerson, type Person, type Session, signIn } from '../../../sessions/factors/testing/second-factors.ts'
import { createSession } from '../../../sessions/operations/session/create-session.ts'
import { setSession } from '../../../sessions/operations/session/set-session.ts'
import { redirectUri, told } from '../../authorization/testing/visitors.ts'
import { issueToken } from '../../operations/issue-token.ts'
import { add, byApi, give, set, type Things } from './people.ts'
import { comeBy, link, sessionByIntent } from './provider.ts'
import { baseOf, policies, trustedFor, trusting } from './tables.ts'

/** The link of an invitation. */
interface Link {
  id: string
  code: string
}

export class Visitor extends Holder {
  async byCode(page: PageAnswer, person: Person): Promise<PageAnswer> {
    const asked = await this.follow(await this.post(page, { loginName: person.userName, action: 'mail-code' }))
    await users.afterResponse.stop()
    return this.follow(await this.post(asked, { code: await mailed(person, 'sign-in-code'), action: 'check-code' }))
  }

  async send(
    { requestId, formToken }: PageAnswer,
    given: { action?: string; code?: string; factor?: string; trusts?: string },
  ) {
    const usual = { code: '', action: 'check', factor: '', trusts: '' }
    const request = { ...usual, ...given, browser: this.cookie, requestId, formToken, trust: this.trust }
    return this.follow(this.keep(await checkCode(this.users, request, this.call())))
  }

  async choosePassword({ requestId, formToken }: PageAnswer, password: string): Promise<PageAnswer> {
    const request = { browser: this.cookie, requestId, formToken, password, action: 'set' }
    return this.follow(this.keep(await chooseNewPassword(this.users, request, this.call())))
  }

  async take(answer: PageAnswer): Promise<PageAnswer> {
    return this.follow(this.keep(answer))
  }

  async open({ id: invitationId, code }: Link): Promise<PageAnswer> {
    const request = { browser: this.cookie, invitationId, code, organizationId: '' }
    return this.follow(this.keep(await openInvitation(this.users, request, call())))
  }

  async accept({ requestId, formToken }: PageAnswer, password: string): Promise<PageAnswer> {
    const names = { givenName: '', familyName: '', language: 'en', keep: '', credential: '' }
    const request = { ...names, password, browser: this.cookie, requestId, formToken }
    return this.follow(this.keep(await acceptInvitation(this.users, request, this.call())))
  }
}

/** Somebody who is signed in by a browser and by the API, with what an application got of them. */
export interface SignedIn {
  person: Person
  browser: Visitor
  session: Session
  /** Each row has an application of its own: of one, sixty answers in a minute are given without a page. */
  clientId: string
  /** That of the person's address. */
  invitation: Link
  codes: string[]
  tokens: { accessToken: string; refreshToken: string }
}

// A code of an app counts once.
let passed = 0
export const later = () => shiftClock(users.sql, `${(passed += 60)} seconds`)

export const scope = 'openid offline_access'
const passwordOf = ({ userName }: Person) => `${userName}-password`

/** Signs a new person in, who then has what a session with this takes. */
export async function signedIn(done: string): Promise<{ state: SignedIn; things: Things }> {
  await allow({ allowPasskeys: true })
  const person = await newPerson(users)
  const things: Things = {}
  const [first, second] = done.split(', ')
  for (const one of second === 'codes' ? ['app', 'codes'] : [second ?? '', first === 'passkey' ? first : ''])
    await add[one]?.(person, things)
  await later()
  await allow(baseOf(done))
  const signedIn = second === 'trusted' ? undefined : await begun(first!, second, person, things)
  const none = { browser: new Visitor(users), session: noSession, tokens: noTokens }
  await keepLoginAddresses(users, person.userId)
  const invitation = await invited(person)
  return { state: { person, ...(signedIn ?? none), invitation, clientId: 'client', codes: [] }, things }
}
/** Before anybody has signed in. */
const noSession: Session = { sessionId: '', sessionToken: '' }
const noTokens = { accessToken: '', refreshToken: '' }

async function begun(first: string, second: string | undefined, person: Person, things: Things) {
  const browser = new Visitor(users)
  const { page: after, session: opened } = await opens[first]!(browser, person, things)
  const isWhole = second === undefined
  const page = isWhole ? after : await atPage(second, browser, after, { person, things })
  const session = isWhole ? opened : await inSession(second, opened, { person, things })
  return { browser, session, tokens: await redeem(told(page)['code']!) }
}

const linked = new Set<string>()

/** What begins a session: on a page, and over the API. */
const opens: Record<
  string,
  (browser: Visitor, person: Person, things: Things) => Promise<{ page: PageAnswer; session: Session }>
> = {
  password: async (browser, person) => ({
    page: await browser.signIn(await browser.begin({ scope }), person.userName),
    session: await signIn(users, person),
  }),
  code: async (browser, person) => ({
    page: await browser.byCode(await browser.begin({ scope }), person),
    session: await sessionByCode(person),
  }),
  passkey: async (browser, person, { passkey }) => {
    const page = await browser.begin({ scope })
    return {
      page: await browser.pass(page, passkey!.device.get(passkeyAsked(page))),
      session: await byApi(await half(person), passkey!.device, false),
    }
  },
  provider: async (browser, person) => {
    if (!linked.has(person.userId)) await link(person)
    linked.add(person.userId)
    return {
      page: await comeBy(browser, await browser.begin({ scope }), person),
      session: await sessionByIntent(person),
    }
  },
  async reset(browser, person, things) {
    things.isByMail = true
    const forgetful = new Forgetful(users)
    const page = await forgetful.ask(await forgetful.begin({ scope }), person.userName)
    const { code } = await forgetful.mailTo(person.userId)
    const after = await forgetful.finish(page, code, { password: passwordOf(person) })
    browser.cookie = forgetful.cookie
    return { page: after, session: await signIn(users, person) }
  },
  async invitation(browser, person) {
    await users.sql`delete from passwords where user_id = ${person.userId}`
    const request = { userId: person.userId, verification: { $case: 'returnCode' as const, value: {} } }
    const { inviteCode: code } = await createInviteCode.handle(users, request, call())
    await browser.accept(await browser.open({ id: person.userId, code: code! }), passwordOf(person))
    return { page: await browser.authorize({ scope, prompt: 'none' }), session: await signIn(users, person) }
  },
}

/** Signs in anew, after the browser was trusted for a factor that the person has by now. */
export async function signInTrusted(row: string, done: string, state: SignedIn, things: Things): Promise<void> {
  const { person } = state
  const [first] = done.split(', ')
  await give(row, person, things)
  await later()
  await allow(policies[trusting(done)]!)
  const before = new Visitor(users)
  const { page } = await opens[first!]!(before, person, things)
  const second = trustedFor(row, done)!
  const asked = await before.send(page, { action: second === 'app' ? 'by-totp' : 'by-mail' })
  await atPage(second, before, asked, { person, things }, 'on')
  const browser = new Visitor(users)
  browser.trust = before.trust
  const again = await opens[first!]!(browser, person, things)
  Object.assign(state, { browser, session: again.session, tokens: await redeem(told(again.page)['code']!) })
}

async function invited({ email }: Person): Promise<Link> {
  const delivery = { $case: 'returnLink' as const, value: {} }
  const request = { ...AddInvitationRequest.decode(new Uint8Array()), email, delivery }
  const { invitationId: id, link } = await addInvitation.handle(users, request, call())
  return { id, code: link!.split('#code=')[1]! }
}

async function half({ userId }: Person): Promise<Session> {
  return createSession.handle(users, { userId, loginName: '', password: '', lifetime: undefined }, call())
}

interface At {
  person: Person
  things: Things
}

/** Proves a second factor on the page that asks for it. */
async function atPage(
  second: string,
  browser: Visitor,
  page: PageAnswer,
  { person, things }: At,
  trusts = '',
): Promise<PageAnswer> {
  if (second === 'key') return browser.pass(page, things.key!.device.get(passkeyAsked(page), { uv: false }))
  if (second === 'app') return browser.send(page, { factor: 'totp', code: await things.app!.code(), trusts })
  if (second === 'mail') return browser.send(page, { code: await mailed(person), trusts })
  const codes = await browser.send(page, { action: 'by-recovery-code' })
  return browser.send(codes, { factor: 'recovery-code', code: things.codes!.shift()! })
}

/** Likewise, in a session of the API. */
async function inSession(second: string, session: Session, { things }: At): Promise<Session> {
  if (second === 'key') return byApi(session, things.key!.device, true)
  if (second === 'app') return set(session, { totpCode: await things.app!.code(1) })
  if (second === 'codes') return set(session, { recoveryCode: things.codes!.shift()! })
  const { challenges } = await set(session, { otpEmail: { delivery: { $case: 'returnCode', value: {} } } })
  return set(session, { otpEmailCode: challenges!.otpEmail! })
}

async function sessionByCode(person: Person): Promise<Session> {
  const session = await half(person)
  const administrator = { ...call(), caller: { ...call().caller, instanceRoles: ['IAM_OWNER'] } }
  const delivery = { $case: 'returnCode', value: {} } as const
  const request = { ...setCodec.decode(new Uint8Array()), ...session, otpEmail: { delivery } }
  const { challenges } = await setSession.handle(users, request, administrator)
  return set(session, { otpEmailCode: challenges!.otpEmail! })
}

async function mailed({ userId, email }: Person, kind: 'otp-email' | 'sign-in-code' = 'otp-email'): Promise<string> {
  const [row] = await users.sql<{ id: string }[]>`
    select mail_id as id from unsent_mails where user_id = ${userId} and kind = ${kind} order by requested_at desc
  `
  const found = (await findCode(users, kind, { codeId: row!.id }))!
  return deriveCode(users.keys, found.code, userId, email, kind)
}

export const issue = (given: object) =>
  issueToken.handle(users, { ...codec.decode(new Uint8Array()), clientId: 'client', ...given }, call())

export async function redeem(code: string, clientId = 'client') {
  const answer = await issue({ clientId, grantType: 'authorization_code', code, codeVerifier: 'verifier', redirectUri })
  return { accessToken: answer.accessToken, refreshToken: answer.refreshToken! }
}
