import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { AxeResults } from 'axe-core'
import type { JsonObject } from '@bufbuild/protobuf'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freePort } from '../../../../deploy/local/ports.ts'
import { drawPng } from '#test/support/png'
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)

let browser: Browser
let gateway: TestGateway
let application: Server
/** The application's address, on another site than the gateway. */
let app: string
/** What the application got. */
let arrived: { method: string | undefined; url: string | undefined; referer: string | undefined; body: string }[]
/** What users answers in this test, by method. */
let users: Record<string, (request: JsonObject) => JsonObject>
/** What a policy forbade in this test. */
let forbidden: string[]

beforeAll(async () => {
  if (missing) return
  application = createServer((request, response) => void take(request).then(() => response.end('arrived')))
  application.listen(0, '127.0.0.1')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath, args })
  const port = await freePort(0)
  const signIn = [
    'Authorize',
    'ShowSignIn',
    'SignIn',
    'ChooseAccount',
    'CheckCode',
    'Register',
    'FinishRegistration',
    'Recover',
    'ShowRecovery',
    'FinishRecovery',
    'ShowInvitation',
    'OpenInvitation',
    'AcceptInvitation',
    'Decide',
    'EndSession',
    'ShowSignOut',
    'SignOut',
    'ShowLogo',
  ].map((name) => `SignInService.${name}`)
  const passwords = ['PasswordService.RequestPasswordReset', 'PasswordService.ResetPassword']
  const operations = [...signIn, ...passwords, 'InternalService.FindPageBrand'].map((name) => [
    `roster.users.v1.${name}`,
    (request: JsonObject) => users[name.split('.')[1]!]!(request),
  ])
  const environment = { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` }
  gateway = await startTestGateway(Object.fromEntries(operations), environment)
  app = `http://localhost:${(application.address() as AddressInfo).port}`
})
afterAll(async () => {
  await browser?.close()
  application?.close()
  await gateway?.stop()
})
beforeEach(() => {
  arrived = []
  users = {}
  forbidden = []
})
afterEach(() => expect(forbidden).toEqual([]))

async function take(request: IncomingMessage) {
  const { method, url, headers } = request
  let body = ''
  for await (const chunk of request) body += String(chunk)
  if (url !== '/favicon.ico') arrived.push({ method, url, referer: headers.referer, body })
}

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  const page = await context.newPage()
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) forbidden.push(message.text())
  })
  page.on('dialog', (dialog) => {
    forbidden.push(dialog.message())
    void dialog.dismiss()
  })
  await page.goto(/^(http|about:)/.test(path) ? path : gateway.url + path)
  return page
}

/** Comes to the page of the request in a tab that all such tests share: a new one for each takes longer than the test. */
async function show(screen: JsonObject, options: BrowserContextOptions = {}): Promise<Page> {
  users['ShowSignIn'] = () => screen
  const wanted = JSON.stringify(options)
  const page = tabs.get(wanted) ?? (await open('about:blank', options))
  tabs.set(wanted, page)
  await page.goto(gateway.url + page1)
  return page
}

const tabs = new Map<string, Page>()

const page1 = '/ui/login/r1'
const withForm = {
  requestId: 'r1',
  formToken: 'token',
  destination: { applicationName: 'Acme Timesheets', host: 'time.acme.example' },
}
const account = { sessionId: 's1', displayName: 'Ada Lovelace', loginName: 'ada@acme.example' }
const evil = '"><img src=x onerror=alert(1)></title></style></p><script>alert(1)</script>\u202e'

const date = '2026-11-26T15:54:00Z'
const times = { creationDate: date, lastUseDate: date, expirationDate: date }
const consent = {
  applicationId: 'a1',
  applicationName: 'Acme Timesheets',
  scopes: ['openid', 'email', 'urn:x'],
  givenDate: date,
}

const brand = {
  lightTheme: { primaryColor: '#7a1fa2', onPrimaryColor: '#ffffff', backgroundColor: '#f6eefa' },
  darkTheme: { primaryColor: '#e1b3f5', onPrimaryColor: '#000000', backgroundColor: '#101418' },
  cornerRadius: 0,
}

const code = (rest: JsonObject): JsonObject => ({
  ...withForm,
  code: { loginName: 'ada', email: 'a•••@a•••.example', ...rest },
})

const profile = { givenName: 'Ada', familyName: 'Lovelace', displayName: 'Ada', language: 'de', userName: 'ada' }
const ofAccount = (page: JsonObject): JsonObject => ({
  formToken: 'token',
  account: { account, userId: 'u1', email: 'ada@acme.example', ...page },
})
const invited = {
  email: 'ada@acme.example',
  inviter: 'Grace Hopper',
  message: 'See you on Monday',
  applicationName: 'Acme Timesheets',
  passwordMin: 8,
  passwordMax: 200,
}

const screens: Record<string, JsonObject> = {
  'sign in': { ...withForm, signIn: {} },
  'wrong password, with a brand': {
    ...withForm,
    brand,
    signIn: { loginName: 'ada', mayRegister: true, error: 'SIGN_IN_ERROR_CREDENTIALS_INVALID' },
  },
  'sign in again, throttled': {
    ...withForm,
    signIn: { loginName: 'ada', nameIsFixed: true, error: 'SIGN_IN_ERROR_THROTTLED', retryAfter: 40 },
  },
  'sign in or register': { ...withForm, signIn: { mayRegister: true, error: 'SIGN_IN_ERROR_ADDRESS_TAKEN' } },
  register: { ...withForm, registration: {} },
  'wrong address': {
    ...withForm,
    registration: { email: 'ada', givenName: 'Ada Lovelace', error: 'REGISTRATION_ERROR_EMAIL_INVALID' },
  },
  code: { ...withForm, registrationCode: { email: 'ada@acme.example', passwordMin: 8, passwordMax: 200 } },
  'short password': {
    ...withForm,
    registrationCode: {
      email: 'ada@acme.example',
      passwordMin: 8,
      passwordMax: 200,
      error: 'REGISTRATION_ERROR_PASSWORD_INVALID',
    },
  },
  'sign in, or recover': { ...withForm, signIn: { loginName: 'ada', recovers: true, mayRegister: true, keep: false } },
  recover: { ...withForm, recovery: { loginName: 'ada' } },
  'recover, known': { ...withForm, recovery: { loginName: 'ada', nameIsFixed: true } },
  'recover by code': { ...withForm, recoveryCode: { loginName: 'ada', passwordMin: 8, passwordMax: 200 } },
  'recover by wrong code': {
    ...withForm,
    recoveryCode: { loginName: 'ada', passwordMin: 8, passwordMax: 200, error: 'RECOVERY_ERROR_CODE_WRONG' },
  },
  'recover with a short password': {
    ...withForm,
    recoveryCode: { loginName: 'ada', passwordMin: 8, passwordMax: 200, error: 'RECOVERY_ERROR_PASSWORD_INVALID' },
  },
  'link of an invitation': { invitationLink: { invitationId: 'i1' } },
  'link of an invitation, wrong code': { invitationLink: { invitationId: 'i1', problem: 'code' } },
  invitation: { ...withForm, invitation: invited },
  'invitation, short password': { ...withForm, invitation: { ...invited, error: 'INVITATION_ERROR_PASSWORD_INVALID' } },
  'invitation of a user without a password': {
    ...withForm,
    invitation: { ...invited, namesAreKnown: true, keep: false },
  },
  'invitation, known person': { ...withForm, invitation: { ...invited, account } },
  'invitation of another person': { ...withForm, signIn: { loginName: 'ada', error: 'SIGN_IN_ERROR_INVITED_PERSON' } },
  'invitation over': { notice: { reason: 'NOTICE_REASON_INVITATION_OVER' } },
  'invitation refused': { notice: { reason: 'NOTICE_REASON_INVITATION_REFUSED' } },
  'password set': { notice: { reason: 'NOTICE_REASON_PASSWORD_SET', applicationOrigin: 'https://time.acme.example' } },
  'common password': {
    ...withForm,
    registrationCode: {
      email: 'ada@acme.example',
      passwordMin: 8,
      passwordMax: 200,
      error: 'REGISTRATION_ERROR_PASSWORD_TOO_COMMON',
    },
  },
  'wrong password': { ...withForm, signIn: { loginName: 'ada', error: 'SIGN_IN_ERROR_CREDENTIALS_INVALID' } },
  'code by mail, not sent': code({}),
  'code by mail': code({ isSent: true }),
  'code by mail, wrong': code({ isSent: true, error: 'CODE_ERROR_WRONG' }),
  'code by mail, over': code({ isSent: true, error: 'CODE_ERROR_OVER' }),
  'code by mail, throttled': code({ isSent: true, error: 'CODE_ERROR_THROTTLED', retryAfter: 40 }),
  'code by mail, too many mails': code({ error: 'CODE_ERROR_MAILS_THROTTLED', retryAfter: 400 }),
  'code by mail, address not verified': code({ error: 'CODE_ERROR_NOT_VERIFIED' }),
  'code by mail, password by mail': code({ error: 'CODE_ERROR_PASSWORD_BY_MAIL' }),
  'no access': { ...withForm, noAccess: { accounts: [account, { ...account, loginName: 'ada' }] } },
  accounts: { ...withForm, accounts: { accounts: [account, { ...account, sessionId: 's2' }] } },
  consent: { ...withForm, consent: { account, scopes: ['openid', 'email', 'urn:x'], actsInRoster: true } },
  'first use': { ...withForm, consent: { account, scopes: [] } },
  'too many consents': { ...withForm, consent: { account, scopes: ['openid'], tooMany: true } },
  'one click': { ...withForm, consent: { account, clickOnly: true } },
  'sign out': {
    ...withForm,
    signOut: {
      accounts: [account],
      offersAll: true,
      uriUnregistered: true,
      mistake: { parameter: 'post_logout_redirect_uri', rule: 'PARAMETER_RULE_REGISTERED' },
      clientId: 'c'.repeat(200),
      redirectUri: `https://time.acme.example/${'long/'.repeat(90)}`,
    },
  },
  'signed out': { notice: { reason: 'NOTICE_REASON_SIGNED_OUT', location: 'https://time.acme.example/bye' } },
  account: ofAccount({ profile, emailVerified: true, outcome: 'saved' }),
  'account, not verified': ofAccount({ profile, outcome: 'code-wrong' }),
  'account, sign-in': ofAccount({ section: 'sign-in', outcome: 'password-set' }),
  'account, activity': ofAccount({
    section: 'activity',
    sessions: {
      sessions: [
        { id: 's1', isCurrent: true, ...times },
        { id: 's2', inBrowser: true, ...times },
        { id: 's3', creationDate: date, expirationDate: date },
      ],
      total: 12,
      nextCursor: 'c',
      goesOn: true,
    },
  }),
  'account, apps': ofAccount({
    section: 'apps',
    consents: { consents: [consent, { ...consent, applicationId: 'a2', applicationName: '' }], total: 2 },
  }),
  'account, data': ofAccount({ section: 'data' }),
  'account, email': ofAccount({ section: 'email', emailVerified: true, takeBackHours: 72, outcome: 'address-invalid' }),
  'account, password': ofAccount({
    section: 'password',
    passwordMin: 8,
    passwordMax: 200,
    outcome: 'password-common',
  }),
  'account, removal': ofAccount({ section: 'removal', forgetAfterDays: 30, outcome: 'last-owner' }),
  'take back': { takeBack: {} },
  'taken back': { notice: { reason: 'NOTICE_REASON_TAKEN_BACK' } },
  'unknown application': { notice: { reason: 'NOTICE_REASON_CLIENT_UNKNOWN', clientId: 'ada' } },
  'unknown address': {
    notice: {
      reason: 'NOTICE_REASON_REDIRECT_URI_INVALID',
      clientId: 'ada',
      redirectUri: 'time.acme.example',
      nearestRedirectUri: 'https://time.acme.example/callback',
    },
  },
  'faulty request': {
    destination: withForm.destination,
    notice: {
      reason: 'NOTICE_REASON_REQUEST_FAULTY',
      location: 'https://time.acme.example/callback?error=invalid_request',
      mistake: { parameter: 'prompt', rule: 'PARAMETER_RULE_WORDS', values: ['none', 'login'] },
    },
  },
  'faulty request, to post': {
    destination: withForm.destination,
    notice: {
      reason: 'NOTICE_REASON_REQUEST_FAULTY',
      formPost: { action: 'https://time.acme.example/callback', parameters: { error: 'invalid_request' } },
      mistake: { parameter: '', rule: 'PARAMETER_RULE_ONCE' },
    },
  },
  notice: { notice: { reason: 'NOTICE_REASON_REQUEST_ANSWERED', applicationOrigin: 'https://time.acme.example' } },
}
const long = 'W'.repeat(200)
const longNames: Record<string, JsonObject> = {
  'long names, sign in': {
    ...withForm,
    destination: { applicationName: long, host: long },
    signIn: { loginName: long },
  },
  'long names, register': { ...withForm, registration: { email: long, givenName: long, familyName: long } },
  'long names, code': { ...withForm, registrationCode: { email: long, passwordMin: 8, passwordMax: 200 } },
  'long names, invitation': {
    ...withForm,
    invitation: { ...invited, email: long, inviter: long, message: long, applicationName: long },
  },
  'long names, code by mail': code({ loginName: long, email: long, isSent: true }),
  'long names, no access': {
    ...withForm,
    destination: { applicationName: long, host: long },
    noAccess: { accounts: [{ sessionId: 's', displayName: long, loginName: long }] },
  },
  'long names, accounts': {
    ...withForm,
    accounts: { accounts: [{ sessionId: 's', displayName: long, loginName: long }] },
  },
  'long names, sign out': {
    ...withForm,
    signOut: { accounts: [{ sessionId: 's', displayName: long, loginName: long }], offersAll: true },
  },
  'long names, account': {
    account: {
      account: { sessionId: 's', displayName: long, loginName: long },
      email: long,
      profile: { givenName: long, familyName: long, displayName: long, language: 'de', userName: long },
    },
  },
  'long names, apps': {
    account: {
      section: 'apps',
      account: { sessionId: 's', displayName: long, loginName: long },
      email: long,
      consents: { consents: [{ ...consent, applicationName: long, scopes: [long] }], total: 1 },
    },
  },
  'long names, consent': {
    ...withForm,
    consent: { account: { ...account, displayName: long }, scopes: [long], clickOnly: false },
  },
  'long names, unknown address': {
    notice: {
      reason: 'NOTICE_REASON_REDIRECT_URI_INVALID',
      clientId: long,
      redirectUri: `https://${long}${long}`,
      nearestRedirectUri: `https://${long}`,
    },
  },
  'long names, faulty request': {
    destination: { applicationName: long, host: long },
    notice: {
      reason: 'NOTICE_REASON_REQUEST_FAULTY',
      location: 'https://time.acme.example/',
      mistake: { parameter: 'scope', rule: 'PARAMETER_RULE_SCOPE_ROSTER', values: [long] },
    },
  },
  'long names, one click': { ...withForm, consent: { account: { ...account, displayName: long }, clickOnly: true } },
}

describe.skipIf(missing)(`in Chromium${missing ? ' (skipped: there is no /usr/bin/chromium)' : ''}`, () => {
  test('without script a person signs in, consents and reaches the application, which learns the code alone', async () => {
    let next: JsonObject = screens['sign in']!
    users = {
      Authorize: () => ({ redirect: { location: page1 }, newBrowser: 'one' }),
      ShowSignIn: ({ browser }) => (browser === undefined ? { notice: {} } : next),
      SignIn({ formToken, loginName, password }) {
        const isRight = formToken === 'token' && password === 'right'
        const error = 'SIGN_IN_ERROR_CREDENTIALS_INVALID'
        next = isRight ? screens['consent']! : { ...withForm, signIn: { loginName: loginName!, error } }
        return { redirect: { location: page1 }, ...(isRight && { newBrowser: 'two' }) }
      },
      Decide({ action, browser }) {
        next = { leaving: { location: `${app}/cb?code=${action as string}-${browser as string}` } }
        return { redirect: { location: page1 } }
      },
    }
    const page = await open('/oauth/v2/authorize?client_id=a', { javaScriptEnabled: false })
    await page.locator('#login-name:focus').waitFor()
    await page.keyboard.type('ada')
    await page.keyboard.press('Tab')
    await page.keyboard.type('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('do not match').waitFor()
    expect(await page.title()).toBe('Please check: Sign in')
    expect(await page.getByLabel('Login name').inputValue()).toBe('ada')
    // The field for the password has the focus.
    await page.keyboard.type('right')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Allow access?' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('arrived').waitFor()
    expect(arrived).toEqual([{ method: 'GET', url: '/cb?code=allow-two', referer: undefined, body: '' }])
    await page.context().close()
  })

  test('without script a person registers: each mistake is said where it is, and what was right stays', async () => {
    const asked: JsonObject[] = []
    const lengths = { email: 'ada@acme.example', passwordMin: 8, passwordMax: 200 }
    let next: JsonObject = screens['sign in or register']!
    const then = (screen: JsonObject) => (request: JsonObject) => {
      asked.push(request)
      next = { ...withForm, ...screen }
      return { redirect: { location: page1 } }
    }
    users = { ShowSignIn: () => next, SignIn: then({ registration: {} }) }
    const page = await open(page1, { javaScriptEnabled: false, viewport: { width: 320, height: 568 } })
    await page.getByRole('button', { name: 'Register' }).click()
    await page.getByRole('heading', { name: 'Register' }).waitFor()
    const typed = { email: 'ada@acme.example', givenName: 'Ada', familyName: 'L' }
    users['Register'] = then({ registration: { ...typed, error: 'REGISTRATION_ERROR_FAMILY_NAME_INVALID' } })
    // The first field has the focus.
    await page.keyboard.type(typed.email)
    await page.getByLabel('Given name').fill(typed.givenName)
    await page.getByLabel('Family name').fill(typed.familyName)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Please enter a name').waitFor()
    expect(await page.title()).toBe('Please check: Register')
    expect(await page.getByLabel('Email address').inputValue()).toBe(typed.email)
    expect(await page.getByLabel('Family name').getAttribute('aria-invalid')).toBe('true')
    users['Register'] = then({ registrationCode: lengths })
    await page.keyboard.press('End')
    await page.keyboard.type('ovelace')
    await page.keyboard.press('Enter')
    await page.getByText('8 to 200 characters').waitFor()
    expect(await page.getByLabel('Email address').getAttribute('readonly')).toBe('')
    const first = { action: 'finish', code: 'ABC234', password: 'password' }
    users['FinishRegistration'] = then({
      registrationCode: { ...lengths, error: 'REGISTRATION_ERROR_PASSWORD_TOO_COMMON' },
    })
    await page.keyboard.type(first.code)
    await page.getByLabel('New password').fill(first.password)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('easy to guess').waitFor()
    expect(await page.getByLabel('New password').getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByLabel('New password').inputValue()).toBe('')
    expect(await page.getByRole('button', { name: 'Show' }).count()).toBe(0)
    users['FinishRegistration'] = then({ leaving: { location: `${app}/cb?code=c` } })
    await page.getByLabel('Code').fill('ABC234')
    await page.getByLabel('New password').fill('a new password')
    await page.keyboard.press('Enter')
    await page.getByText('arrived').waitFor()
    const form = { requestId: 'r1', formToken: 'token' }
    expect(asked).toEqual([
      { ...form, action: 'register' },
      { ...form, action: 'register', ...typed, language: 'en' },
      { ...form, action: 'register', ...typed, familyName: 'Lovelace', language: 'en' },
      { ...form, ...first },
      { ...form, action: 'finish', code: 'ABC234', password: 'a new password' },
    ])
    await page.context().close()
  })

  test('without script a person recovers in the request: the typed name is kept, and the link keeps its code', async () => {
    const asked: JsonObject[] = []
    let next: JsonObject = { ...withForm, signIn: { recovers: true } }
    const then = (screen: JsonObject) => (request: JsonObject) => {
      asked.push(request)
      next = { ...withForm, ...screen }
      return { redirect: { location: page1 } }
    }
    users = { ShowSignIn: () => next, Recover: then({ recovery: { loginName: 'ada' } }) }
    const page = await open(page1, { javaScriptEnabled: false, viewport: { width: 320, height: 568 } })
    await page.getByLabel('Login name').fill('ada')
    await page.getByRole('button', { name: 'Forgot password?' }).click()
    await page.getByRole('heading', { name: 'Forgot your password?' }).waitFor()
    users['Recover'] = then({ recoveryCode: { loginName: 'ada', passwordMin: 8, passwordMax: 200 } })
    await page.keyboard.press('Enter')
    await page.getByText('8 to 200 characters').waitFor()
    users['FinishRecovery'] = then({ signIn: {} })
    await page.keyboard.type('ABC234')
    await page.getByLabel('New password').fill('a new password')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const form = { requestId: 'r1', formToken: 'token' }
    expect(asked).toEqual([
      { ...form, action: 'begin', loginName: 'ada' },
      { ...form, action: 'send', loginName: 'ada' },
      { ...form, action: 'finish', code: 'ABC234', password: 'a new password' },
    ])
    users['ShowRecovery'] = () => ({ redirect: { location: '/ui/reset-password' } })
    await page.goto(`${gateway.url}${page1}/recovery#userId=u1&code=ABC234`)
    expect(page.url()).toBe(`${gateway.url}/ui/reset-password#userId=u1&code=ABC234`)
    await page.context().close()
  })

  test.each([true, false])(
    'an invitation is opened and accepted by keyboard, and no server sees its code before (script: %s)',
    async (javaScriptEnabled) => {
      const asked: JsonObject[] = []
      users = {
        ShowInvitation: () => ({ invitationLink: { invitationId: 'i1' } }),
        OpenInvitation(request) {
          asked.push(request)
          return { redirect: { location: page1 } }
        },
        ShowSignIn: () => screens['invitation']!,
        AcceptInvitation(request) {
          asked.push(request)
          return { leaving: { location: `${app}/start` } }
        },
      }
      const page = await open('/ui/invitation/i1#code=ABC234', { javaScriptEnabled })
      expect(asked).toEqual([])
      const field = page.getByLabel('Code from the email')
      expect(await field.isVisible()).toBe(!javaScriptEnabled)
      if (javaScriptEnabled) expect(page.url()).toBe(`${gateway.url}/ui/invitation/i1`)
      else await page.keyboard.type('ABC234')
      await page.keyboard.press('Enter')
      await page.getByText('Grace Hopper invites you to Acme Timesheets').waitFor()
      await page.keyboard.type('Ada')
      await page.keyboard.press('Tab')
      await page.keyboard.type('Lovelace')
      await page.getByLabel('New password').fill('violet umbrella')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${app}/start`)
      const person = { givenName: 'Ada', familyName: 'Lovelace', password: 'violet umbrella', language: 'en' }
      expect(asked).toEqual([
        { invitationId: 'i1', code: 'ABC234' },
        { requestId: 'r1', formToken: 'token', ...person },
      ])
      expect(arrived.map(({ referer }) => referer)).toEqual([undefined])
      await page.context().close()
    },
  )

  test('without script a person asks for a code by mail, for another one without any, and enters it', async () => {
    const asked: JsonObject[] = []
    let next = screens['code by mail, not sent']!
    users = {
      ShowSignIn: () => next,
      CheckCode(request) {
        asked.push(request)
        if (request['code'] === 'ABC234') next = { leaving: { location: `${app}/cb?code=c` } }
        else if (request['action'] === 'check') next = screens['code by mail, wrong']!
        else next = screens['code by mail']!
        return { redirect: { location: page1 } }
      },
    }
    const page = await open(page1, { javaScriptEnabled: false })
    expect(await page.getByLabel('Code from the email').count()).toBe(0)
    await page.getByRole('button', { name: 'Send me a code' }).click()
    await page.getByText('We have sent a code to a•••@a•••.example').waitFor()
    // The field has the focus.
    await page.keyboard.type('WRONG2')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('from the latest email').waitFor()
    expect(await page.title()).toBe('Please check: Confirm with a code')
    const field = page.getByLabel('Code from the email')
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await field.getAttribute('aria-describedby')).toBe('code-hint status')
    await page.getByRole('button', { name: 'Send a new code' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.keyboard.type('ABC234')
    await page.keyboard.press('Enter')
    await page.getByText('arrived').waitFor()
    const form = { requestId: 'r1', formToken: 'token' }
    expect(asked).toEqual([
      { ...form, action: 'send' },
      { ...form, action: 'check', code: 'WRONG2' },
      { ...form, action: 'send' },
      { ...form, action: 'check', code: 'ABC234' },
    ])
    await page.context().close()
  })

  test('an answer by form_post is posted by itself, and by a button without script', async () => {
    users['ShowSignIn'] = () => ({ formPost: { action: `${app}/cb`, parameters: { code: 'c', state: evil } } })
    const body = `code=c&state=${new URLSearchParams({ s: evil }).toString().slice(2)}`
    const posted = { method: 'POST', url: '/cb', referer: undefined, body }
    const page = await open(page1)
    await page.getByText('arrived').waitFor()
    const scriptless = await open(page1, { javaScriptEnabled: false })
    await scriptless.getByRole('button', { name: 'Continue' }).click()
    await scriptless.getByText('arrived').waitFor()
    expect(arrived).toEqual([posted, posted])
    await page.context().close()
    await scriptless.context().close()
  })

  test('without script an error goes back to the application by a link, or by a button, and the page sends no referrer', async () => {
    const faulty = { reason: 'NOTICE_REASON_REQUEST_FAULTY', mistake: { parameter: 'prompt', rule: 1 } }
    const parameters = { error: 'invalid_request' }
    for (const way of [
      { location: `${app}/cb?error=invalid_request` },
      { location: `${app}/cb#error=invalid_request` },
      { formPost: { action: `${app}/cb`, parameters } },
    ]) {
      users['Authorize'] = () => ({ destination: withForm.destination, notice: { ...faulty, ...way } })
      const page = await open('/oauth/v2/authorize?client_id=a', { javaScriptEnabled: false })
      await page.getByText('prompt must not come more than once.').waitFor()
      expect(arrived).toEqual([])
      const back = 'Back to the application'
      await (way.location ? page.getByRole('link', { name: back }) : page.getByRole('button', { name: back })).click()
      await page.getByText('arrived').waitFor()
      const { url, method, body, referer } = arrived.pop()!
      expect(page.url()).toBe(way.location ?? `${app}/cb`)
      expect([method, url, body, referer]).toEqual(
        way.location
          ? ['GET', way.location.replace(app, '').split('#')[0], '', undefined]
          : ['POST', '/cb', 'error=invalid_request', undefined],
      )
      await page.context().close()
    }
  })

  test('a code in the fragment stays in the browser: by a redirect, by the page that leads on, and by its link', async () => {
    const location = `${app}/cb?of=tests#code=c&state=a%20b`
    const ways: [JsonObject, boolean][] = [
      [{ redirect: { location } }, true],
      [{ leaving: { location } }, true],
      [{ leaving: { location } }, false],
      [{ ...screens['notice'], notice: { reason: 'NOTICE_REASON_CANCELLED', location } }, false],
    ]
    for (const [answer, javaScriptEnabled] of ways) {
      users['ShowSignIn'] = () => answer
      const page = await open('about:blank', { javaScriptEnabled })
      // What the browser carries from the address before it, such as one that a stranger has made, is replaced.
      await page.goto(`${gateway.url}${page1}#code=stranger`)
      if (JSON.stringify(answer).includes('CANCELLED')) await page.getByRole('link').click()
      await page.getByText('arrived').waitFor()
      expect(page.url()).toBe(location)
      expect(arrived.splice(0)).toEqual([{ method: 'GET', url: '/cb?of=tests', referer: undefined, body: '' }])
      await page.context().close()
    }
    expect(JSON.stringify(gateway.log)).not.toContain('code=c')
  })

  test('without script a person gets a new password, from the page to sign in', async () => {
    const asked: JsonObject[] = []
    const take = (request: JsonObject) => {
      asked.push(request)
      return {}
    }
    users = { ShowSignIn: () => screens['sign in']!, RequestPasswordReset: take, ResetPassword: take }
    const page = await open(page1, { javaScriptEnabled: false, viewport: { width: 320, height: 568 } })
    await page.getByRole('link', { name: 'Forgot password?' }).click()
    await page.getByLabel('Login name').fill('ada')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
    await page.goto(`${gateway.url}/ui/reset-password#userId=u1&code=ABC234`)
    await page.getByLabel('User ID').fill('u1')
    await page.getByLabel('Code from the email').fill('ABC234')
    await page.getByLabel('New password').fill('New-Password-1')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByRole('heading', { name: 'Your password is set' }).waitFor()
    const reset = { userId: 'u1', verificationCode: 'ABC234', newPassword: 'New-Password-1' }
    expect(asked).toEqual([{ loginName: 'ada' }, reset])
    await page.context().close()
  })

  test('a password is shown by a button, also by keyboard, and hidden again when it is sent; Enter sends it', async () => {
    const asked: JsonObject[] = []
    users = {
      ShowSignIn: () => screens['wrong password']!,
      SignIn: (request) => {
        asked.push(request)
        return { redirect: { location: page1 } }
      },
    }
    const page = await open(page1, { viewport: { width: 320, height: 568 } })
    const password = page.getByRole('textbox', { name: 'Password' })
    const show = page.getByRole('button', { name: 'Show' })
    const typeOf = () => page.locator('#password').getAttribute('type')
    await page.keyboard.type('a secret of ada')
    await page.keyboard.press('Tab')
    for (const [type, pressed] of [
      ['text', 'true'],
      ['password', 'false'],
      ['text', 'true'],
    ]) {
      await page.keyboard.press('Space')
      expect([await typeOf(), await show.getAttribute('aria-pressed')]).toEqual([type, pressed])
    }
    expect(await password.inputValue()).toBe('a secret of ada')
    expect(await faultsOf(page)).toEqual([])
    const sent = page.evaluate(`new Promise((resolve) => {
      document.forms[0].addEventListener('submit', () => resolve(document.getElementById('password').type))
    })`)
    await page.locator('#password').press('Enter')
    expect(await sent).toBe('password')
    await expect
      .poll(() => asked)
      .toEqual([expect.objectContaining({ action: 'sign-in', password: 'a secret of ada' })])
    await page.context().close()
    const without = await open(page1, { javaScriptEnabled: false })
    expect(await without.getByRole('button', { name: 'Show' }).count()).toBe(0)
    await without.context().close()
  })

  test.each(Object.entries(screens))('%s: a page with a script keeps its form-action', async (_, screen) => {
    users['ShowSignIn'] = () => screen
    const answer = await fetch(gateway.url + page1)
    const policy = answer.headers.get('content-security-policy')
    const hasScript = (await answer.text()).includes('<script')
    expect(policy!.includes('script-src')).toBe(hasScript)
    expect(policy).not.toContain('unsafe-inline')
    if (hasScript) expect(policy).toContain("form-action 'self'")
  })

  test.each(Object.entries(screens))('%s: one action at most looks like the one to take', async (_, screen) => {
    const page = await show(screen)
    const filled = `[...document.querySelectorAll('button')].filter((button) => {
      const { color, backgroundColor } = getComputedStyle(button)
      const probe = document.body.appendChild(document.createElement('button'))
      const primary = getComputedStyle(probe)
      const is = color === primary.color && backgroundColor === primary.backgroundColor
      probe.remove()
      return is
    }).length`
    expect(await page.evaluate(filled)).toBeLessThanOrEqual(1)
  })

  test('a form of another site signs nobody in', async () => {
    const asked: JsonObject[] = []
    users['SignIn'] = (request) => {
      asked.push(request)
      return { notice: {} }
    }
    const page = await open(app)
    const form = `<form method="post" action="${gateway.url}${page1}"><input name="form_token" value="token"><button>Go</button></form>`
    await page.setContent(form)
    await page.getByRole('button').click()
    await page.getByRole('heading', { name: 'did not come from our page' }).waitFor()
    expect(asked).toEqual([])
    await page.context().close()
  })

  test('nobody is shown a page in a frame', async () => {
    users['ShowSignIn'] = () => screens['sign in']!
    const page = await open(app)
    for (const path of [page1, '/ui/forgot-password', '/ui/reset-password', '/ui/verify-email']) {
      await page.setContent(`<iframe src="${gateway.url}${path}"></iframe>`)
      await expect
        .poll(() => forbidden.splice(0), { message: path })
        .toEqual([expect.stringContaining('frame-ancestors')])
    }
    await page.context().close()
  })

  test('a popup keeps its opener on each page that a sign-in may pass', async () => {
    users['ShowSignIn'] = () => screens['sign in']!
    const page = await open(app)
    const opened = page.waitForEvent('popup')
    await page.evaluate(`void window.open('${gateway.url}${page1}')`)
    const popup = await opened
    for (const path of ['/ui/forgot-password', '/ui/code-sent', '/ui/reset-password', '/ui/password-set', page1]) {
      await popup.evaluate(`location.href = '${path}'`)
      await popup.waitForURL(gateway.url + path)
      expect(await popup.evaluate('window.opener !== null'), path).toBe(true)
    }
    await page.context().close()
  })

  test.each(Object.entries(screens))('%s: what a name says is shown, and never run', async (_, screen) => {
    const text = JSON.stringify(screen).replaceAll(
      /"(ada|Ada Lovelace|ada@acme.example|a•••@a•••.example|Acme Timesheets|time.acme.example|urn:x|token|s1)"/g,
      () => JSON.stringify(evil),
    )
    const page = await show(JSON.parse(text) as JsonObject)
    expect(await page.locator('img, main script, main style').count()).toBe(0)
    if (text.includes('onerror')) expect(await page.content()).toContain('&lt;img')
  })

  test.each(Object.entries(screens))(
    '%s: nothing keeps anybody out (WCAG 2.2 AA), in any colours',
    async (_, screen) => {
      const page = await show(screen, { reducedMotion: 'reduce' })
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' })
      expect(await faultsOf(page)).toEqual([])
      for (const look of [{ colorScheme: 'dark' }, { forcedColors: 'active' }] as const) {
        await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', ...look })
        expect(await faultsOf(page, ofColors)).toEqual([])
      }
    },
  )

  test.each([...Object.entries(screens), ...Object.entries(longNames)])(
    '%s: nothing is cut off on a screen 320 pixels wide',
    async (_, screen) => {
      const viewport = { width: 320, height: 568 }
      for (const language of ['en', 'de']) {
        const page = await show(screen, { viewport, locale: language })
        expect(await page.locator('html').getAttribute('lang')).toBe(language)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
      }
    },
  )

  test.each(Object.entries(screens))('%s: the keyboard reaches each control, which shows it', async (_, screen) => {
    const page = await show(screen)
    const controls = await page.locator('input:not([type=hidden]), button, a').count()
    const reached = new Set<unknown>()
    for (let press = 0; press <= controls; press++) {
      reached.add(await page.evaluate(focused))
      await page.keyboard.press('Tab')
    }
    reached.delete(undefined)
    expect(reached.size).toBe(controls)
    expect([...reached].every((outline) => String(outline).endsWith('solid 3px'))).toBe(true)
  })

  test('a brand colours the page and what is pressed, in light and in dark, and gives way to forced colours', async () => {
    users['ShowSignIn'] = () => screens['wrong password, with a brand']!
    const looks = [{}, { colorScheme: 'dark' }, { forcedColors: 'active' }] as const
    const found: unknown[] = []
    for (const look of looks) {
      const page = await open(page1, look)
      found.push(await page.evaluate(colors))
      await page.context().close()
    }
    expect(found.slice(0, 2)).toEqual([
      'rgb(246, 238, 250) rgb(122, 31, 162) rgb(255, 255, 255) 0px',
      'rgb(16, 20, 24) rgb(225, 179, 245) rgb(0, 0, 0) 0px',
    ])
    expect(found[2]).not.toContain('rgb(122, 31, 162)')
  })

  test.each(['light', 'dark'] as const)('a brand without a %s theme leaves that as it is', async (scheme) => {
    const other: JsonObject = { ...brand }
    delete other[`${scheme}Theme`]
    const found: unknown[] = []
    for (const shown of [{ cornerRadius: 0 }, other]) {
      users['ShowSignIn'] = () => ({ ...withForm, signIn: {}, brand: shown })
      const page = await open(page1, { colorScheme: scheme })
      found.push(await page.evaluate(colors))
      await page.context().close()
    }
    expect(found[1]).toBe(found[0])
  })

  test('a logo is seen above the heading, at its height, whatever it is like; one that is no more leaves no trace', async () => {
    const content = drawPng({ width: 600, height: 100, pixels: Buffer.alloc(60_100) }).toString('base64')
    users = {
      ShowSignIn: () => ({ ...withForm, signIn: {}, brand: { ...brand, logoHash: 'h'.repeat(43) } }),
      ShowLogo: () => ({ logo: { content } }),
    }
    const page = await open(page1, { viewport: { width: 320, height: 568 } })
    const size = `(() => {
      const { naturalWidth, height } = document.querySelector('.logo')
      return [naturalWidth, height, document.documentElement.scrollWidth]
    })()`
    await expect.poll(() => page.evaluate(size)).toEqual([600, 64, 320])
    expect(await faultsOf(page)).toEqual([])
    users['ShowLogo'] = () => ({ logo: {} })
    const without = await open(page1)
    expect(await without.locator('img').getAttribute('alt')).toBe('')
    expect(await faultsOf(without)).toEqual([])
    for (const shown of [page, without]) await shown.context().close()
  })

  test('the logo for dark stands there in the dark, on pages that mails lead to as well, which have all of the brand', async () => {
    const logo = drawPng({ width: 60, pixels: Buffer.alloc(488) }).toString('base64')
    const whole = { ...brand, logoHash: 'l'.repeat(43), darkLogoHash: 'd'.repeat(43), iconHash: 'i'.repeat(43) }
    const links = { privacyPolicyLink: 'https://acme.example/privacy', helpLink: 'https://acme.example/help' }
    users = {
      FindPageBrand: () => ({ brand: { ...whole, ...links } }),
      ShowSignIn: () => ({ ...withForm, signIn: {}, brand: whole }),
      ShowLogo: () => ({ logo: { content: logo } }),
    }
    const shown = `(() => {
      const { currentSrc, naturalWidth } = document.querySelector('.logo')
      return [currentSrc.split('/').at(-1)[0], naturalWidth, getComputedStyle(document.body).backgroundColor]
    })()`
    const resets = '/ui/reset-password?organization_id=acme#userId=u1&code=ABC234'
    const pages = [page1, resets, '/ui/verify-email?organization_id=acme', '/ui/code-sent?organization_id=acme']
    for (const path of [...pages, '/ui/forgot-password'])
      for (const javaScriptEnabled of [true, false]) {
        const light = await open(path, { javaScriptEnabled })
        await expect.poll(() => light.evaluate(shown)).toEqual(['l', 60, 'rgb(246, 238, 250)'])
        const dark = await open(path, { javaScriptEnabled, colorScheme: 'dark' })
        await expect.poll(() => dark.evaluate(shown)).toEqual(['d', 60, 'rgb(16, 20, 24)'])
        if (path !== page1 && javaScriptEnabled) expect(await faultsOf(dark)).toEqual([])
        for (const page of [light, dark]) await page.context().close()
      }
  })

  test('a page is one request of at most ten kilobytes', async () => {
    users['ShowSignIn'] = () => screens['sign in']!
    const context = await browser.newContext()
    const page = await context.newPage()
    const sizes: number[] = []
    page.on('response', (response) => void response.body().then((body) => sizes.push(body.length)))
    await page.goto(gateway.url + page1, { waitUntil: 'networkidle' })
    expect(sizes).toEqual([expect.toSatisfy((size: number) => size < 10_000)])
    await context.close()
  })
})

const colors = `(() => {
  const { backgroundColor, color, borderRadius } = getComputedStyle(document.querySelector('button:not([type=button])'))
  return [getComputedStyle(document.body).backgroundColor, backgroundColor, color, borderRadius].join(' ')
})()`

const focused = `(() => {
  const { activeElement: at } = document
  if (at === document.body) return undefined
  const { outlineStyle, outlineWidth } = getComputedStyle(at)
  return [...document.querySelectorAll('input, button, a')].indexOf(at) + ' ' + outlineStyle + ' ' + outlineWidth
})()`

// Each page gets it, so the short form.
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const wanted = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** What may differ in other colours: all else is the same page. */
const ofColors = ['color-contrast', 'link-in-text-block']

async function faultsOf(page: Page, runOnly = wanted): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  const { violations } = (await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(runOnly)} })`)) as AxeResults
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
