import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '@bufbuild/protobuf'
import {
  answerBy,
  app,
  arrived,
  beginAnew,
  browser,
  closePages,
  faultsOf,
  forbidden,
  gateway,
  missing,
  open,
  openPages,
  users,
} from './testing/pages.ts'
import { evil, page1, withForm } from './testing/parts.ts'
import { screens } from './testing/screens.ts'

beforeAll(openPages)
afterAll(closePages)
beforeEach(beginAnew)
afterEach(() => expect(forbidden).toEqual([]))

describe.skipIf(missing)(`in Chromium${missing ? ' (skipped: there is no /usr/bin/chromium)' : ''}`, () => {
  test('without script a person signs in, consents and reaches the application, which learns the code alone', async () => {
    let next: JsonObject = screens['sign in']!
    answerBy({
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
    })
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
    answerBy({ ShowSignIn: () => next, SignIn: then({ registration: {} }) })
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
    answerBy({ ShowSignIn: () => next, Recover: then({ recovery: { loginName: 'ada' } }) })
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
      answerBy({
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
      })
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
    answerBy({
      ShowSignIn: () => next,
      CheckCode(request) {
        asked.push(request)
        if (request['code'] === 'ABC234') next = { leaving: { location: `${app}/cb?code=c` } }
        else if (request['action'] === 'check') next = screens['code by mail, wrong']!
        else next = screens['code by mail']!
        return { redirect: { location: page1 } }
      },
    })
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
    answerBy({ ShowSignIn: () => screens['sign in']!, RequestPasswordReset: take, ResetPassword: take })
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
    answerBy({
      ShowSignIn: () => screens['wrong password']!,
      SignIn: (request) => {
        asked.push(request)
        return { redirect: { location: page1 } }
      },
    })
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
