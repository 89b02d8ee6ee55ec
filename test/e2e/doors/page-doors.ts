import { admin, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { authorizePath, callbackOf, formOf, redeem, type Shown } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { codeCount, mailTo } from '../mailbox.ts'
import { type Browser, enter, registerableNames, returnUri, type Stage } from './stage.ts'

/** A door that needs one step more: with everything right, it opens. */
export interface Opened {
  use(browser: Browser): Promise<Shown>
  /** The request that it belongs to. */
  requestId?: string | undefined
}

export interface PageDoor {
  /** In the browser of the person, who is signed in there. */
  prepare(stage: Stage): Promise<Opened>
  /** Who is signed in does not matter to it: a password or a code opens it. */
  isForAnybody?: boolean
  /** A right password goes on with the former value of the cookie: its answer may have been lost. */
  takesFormer?: boolean
  /** Its answer is a file. */
  isFile?: boolean
  /** It is there for who lacks the second factor, or whoever lacks it may sign out as well. */
  isForPartial?: boolean
  /** The page that it leads to, where nothing is changed before. */
  leadsTo?: string
}

/** A door for each method that is a page. */
export const pageDoors: Record<string, PageDoor> = {
  Authorize: {
    async prepare({ own, person: { userId } }) {
      const claims = JSON.stringify({ id_token: { sub: { value: userId } } })
      return { use: (browser) => browser.visit(authorizePath(own, { prompt: 'none', claims })) }
    },
  },
  ShowSignIn: {
    async prepare(stage) {
      const requestId = idOf(await stage.browser.visit(authorizePath(stage.own, { prompt: 'login' })))
      await enter(stage)
      return { requestId, use: (browser) => browser.visit(`/ui/login/${requestId}`) }
    },
  },
  SignIn: {
    isForAnybody: true,
    takesFormer: true,
    async prepare({ browser, own, person: { password } }) {
      const page = await browser.visit(authorizePath(own, { prompt: 'login' }))
      return formOn(page, { action: 'sign-in', password })
    },
  },
  CheckCode: {
    isForPartial: true,
    async prepare(stage) {
      const { browser, own, person } = stage
      const { userId, email, userName: login_name, password } = person
      // It has it already where the door is prepared once more.
      await call('AddOTPEmail', { userId }, admin())
      ok(await call('DeleteUserSessions', { userId }, admin()))
      const before = await codeCount(email)
      // Without the name, which the request would show to everybody.
      const asked = await browser.visit(authorizePath(own, { prompt: 'login' }))
      stage.former = browser.cookie()
      const page = await browser.submit(asked, { action: 'sign-in', login_name, password })
      const { code } = await mailTo(email, before + 1)
      return formOn(page, { action: 'check', code })
    },
  },
  ChooseNewPassword: {
    isForPartial: true,
    async prepare(stage) {
      const { browser, own, person } = stage
      const password = unique('Handed')
      recordSecret(password)
      const newPassword = { password, changeRequired: true }
      ok(await call('SetPassword', { userId: person.userId, newPassword }, admin()))
      const asked = await browser.visit(authorizePath(own, { prompt: 'login' }))
      stage.former = browser.cookie()
      const page = await browser.submit(asked, { action: 'sign-in', login_name: person.userName, password })
      return formOn(page, { action: 'set', password: person.password })
    },
  },
  ChooseAccount: {
    async prepare(stage) {
      await enter(stage, stage.friend)
      const page = await stage.browser.visit(authorizePath(stage.own, { prompt: 'select_account' }))
      const buttons = [...page.body.matchAll(/name="session_id" value="([^"]*)">(.*?)<\/button>/gs)]
      const [, session_id] = buttons.find(([, , text]) => text!.includes(stage.person.userName))!
      return formOn(page, { session_id: session_id! })
    },
  },
  Decide: {
    prepare: async ({ browser, asking }) =>
      formOn(await browser.visit(authorizePath(asking, { prompt: 'consent' })), { action: 'allow' }),
  },
  Register: {
    isForAnybody: true,
    leadsTo: 'enter code',
    prepare: async (stage) => formOn(await registration(stage), { ...registerableNames, email: uniqueEmail() }),
  },
  FinishRegistration: {
    isForAnybody: true,
    async prepare(stage) {
      const email = uniqueEmail()
      const page = await stage.browser.submit(await registration(stage), { ...registerableNames, email })
      const { code } = await mailTo(email)
      return formOn(page, { code, password: unique('Password'), action: 'finish' })
    },
  },
  Recover: {
    isForAnybody: true,
    leadsTo: 'new password',
    async prepare(stage) {
      const page = await recovery(stage)
      return formOn(page, { login_name: unique('no-one'), action: 'send' })
    },
  },
  ShowRecovery: {
    isForAnybody: true,
    leadsTo: 'new password',
    async prepare(stage) {
      const requestId = idOf(await codeOfRecovery(stage))
      return { use: (browser) => browser.visit(`/ui/login/${requestId}/recovery`) }
    },
  },
  FinishRecovery: {
    isForAnybody: true,
    leadsTo: 'recovery',
    prepare: async (stage) => formOn(await codeOfRecovery(stage), { action: 'back' }),
  },
  AcceptInvitation: {
    isForAnybody: true,
    leadsTo: 'account',
    async prepare({ browser }) {
      const { invitationId, code } = await newInvitation()
      const page = await browser.submit(await browser.visit(`/ui/invitation/${invitationId}`), { code })
      return formOn(page, { given_name: 'Grace', family_name: 'Hopper', password: unique('Password') })
    },
  },
  EndSession: {
    isForPartial: true,
    async prepare({ browser, own, person }) {
      const answer = await callbackOf(person, authorizePath(own), browser)
      const { body } = await redeem(own, answer.searchParams.get('code')!)
      const asked = { id_token_hint: body.id_token as string, post_logout_redirect_uri: returnUri }
      const path = `/oidc/v1/end_session?${String(new URLSearchParams(asked))}`
      return { use: (used) => used.visit(path) }
    },
  },
  ShowSignOut: {
    async prepare({ browser }) {
      const requestId = idOf(await browser.visit('/oidc/v1/end_session'))
      return { requestId, use: (used) => used.visit(`/ui/login/${requestId}/sign-out`) }
    },
  },
  SignOut: {
    isForPartial: true,
    prepare: async ({ browser }) => formOn(await browser.visit('/oidc/v1/end_session'), { action: 'all' }),
  },
  ShowAccount: {
    prepare: async () => ({ use: (browser) => browser.visit('/ui/account') }),
  },
  ChangeMyProfile: {
    prepare: async ({ browser }) =>
      formOn(await browser.visit('/ui/account'), { display_name: unique('Ada') }, '/ui/account/profile'),
  },
  ChangeMyEmail: {
    prepare: async ({ browser }) =>
      formOn(await browser.visit('/ui/account/email'), { email: uniqueEmail() }, '/ui/account/email'),
  },
  ProveMyEmail: {
    async prepare({ browser }) {
      // The form is there for an address that is not verified.
      const { body, ...page } = await browser.visit('/ui/account')
      const [other, own] = ['profile', 'email/code'].map((step) => `action="/ui/account/${step}"`)
      return formOn({ ...page, body: body.replace(other!, own!) }, { action: 'send' }, '/ui/account/email/code')
    },
  },
  ChangeMyPassword: {
    prepare: async ({ browser, person }) =>
      formOn(await browser.visit('/ui/account/password'), { password: person.password }, '/ui/account/password'),
  },
  ChangeMyTOTP: {
    prepare: async ({ browser }) =>
      formOn(await browser.visit('/ui/account/authenticator'), { action: 'begin' }, '/ui/account/authenticator'),
  },
  ChangeMyRecoveryCodes: {
    async prepare({ browser }) {
      // Its own page has the form once there is another factor.
      const { body, ...page } = await browser.visit('/ui/account/authenticator')
      const own = body.replace('action="/ui/account/authenticator"', 'action="/ui/account/recovery-codes"')
      return formOn({ ...page, body: own }, { action: 'make' }, '/ui/account/recovery-codes')
    },
  },
  DownloadMyData: {
    isFile: true,
    prepare: async ({ browser }) => formOn(await browser.visit('/ui/account/data'), {}, '/ui/account/data'),
  },
  EndMySession: {
    async prepare({ browser, person: { userName: loginName, password } }) {
      const { sessionId } = ok(await call('CreateSession', { loginName, password }))
      return formOn(await browser.visit('/ui/account/activity'), { session_id: sessionId }, '/ui/account/session')
    },
  },
  DisownSession: {
    async prepare({ browser, person: { userName: loginName, password } }) {
      const { sessionId } = ok(await call('CreateSession', { loginName, password }))
      return formOn(await browser.visit('/ui/account/activity'), { session_id: sessionId }, '/ui/account/not-me')
    },
  },
  WithdrawMyConsent: {
    async prepare({ browser, asking, person }) {
      await callbackOf(person, authorizePath(asking), browser)
      const page = await browser.visit('/ui/account/apps')
      return formOn(page, { application_id: asking.appId }, '/ui/account/consent')
    },
  },
  LeaveAccount: {
    prepare: async ({ browser }) =>
      formOn(await browser.visit('/ui/account'), { action: 'everywhere' }, '/ui/account/sign-out'),
  },
}

/** All that somebody else could change of a person. */
export async function standingOf({ userId }: { userId: string }): Promise<unknown> {
  const { sessions = [] } = ok(await call('SearchUserSessions', { userId }, admin()))
  const { consents = [] } = ok(await call('SearchUserConsents', { userId }, admin()))
  return [
    sessions.map(({ id }: { id: string }) => id),
    consents.map(({ applicationId, scopes }: any) => [applicationId, scopes]),
  ]
}

async function newInvitation(): Promise<{ invitationId: string; code: string }> {
  const { invitationId, link } = ok(await call('AddInvitation', { email: uniqueEmail(), returnLink: {} }, admin()))
  return { invitationId, code: new URL(link).hash.replace('#code=', '') }
}

function registration({ browser, own }: Stage): Promise<Shown> {
  return browser.visit(authorizePath(own, { prompt: 'create' }))
}

async function recovery({ browser, own }: Stage): Promise<Shown> {
  const page = await browser.visit(authorizePath(own, { prompt: 'select_account' }))
  const asked = readPage(page).kind === 'accounts' ? await browser.submit(page, { session_id: '' }) : page
  const { fields } = formOf(asked.body)!
  const body = new URLSearchParams({ ...fields, login_name: '', action: 'begin' })
  return browser.visit(`/ui/login/${idOf(asked)}/recovery`, { method: 'POST', body })
}

async function codeOfRecovery(stage: Stage): Promise<Shown> {
  return stage.browser.submit(await recovery(stage), { login_name: unique('no-one'), action: 'send' })
}

function formOn(page: Shown, filled: Record<string, string>, path?: string): Opened {
  if (!formOf(page.body, path)) throw new Error(`this page lacks the form: ${readPage(page).kind}`)
  return { requestId: idOf(page), use: (browser) => browser.submit(page, filled, path) }
}

function idOf({ body }: Shown): string | undefined {
  return /action="\/ui\/login\/([\w-]+)/.exec(body)?.[1]
}
