import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { newApplication } from '../../examples/applications.ts'
import { type ExampleHuman, newHuman, newOrganization, unique } from '../../examples/people.ts'
import { recordSecret } from '../clients/encodings.ts'
import { newProject } from '../../examples/projects.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)
const { url } = inject('roster')

let browser: Browser
let application: Server
let redirectUri: string
let clientId: string
let ada: ExampleHuman
let grace: ExampleHuman
/** The queries with which people came back. */
let answers: Record<string, string>[]

beforeAll(async () => {
  if (missing) return
  answers = []
  application = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, redirectUri)
    if (pathname === '/cb') answers.push(Object.fromEntries(searchParams))
    response.end('arrived')
  }).listen(0, '127.0.0.1')
  await once(application, 'listening')
  redirectUri = `http://127.0.0.1:${(application.address() as AddressInfo).port}/cb`
  const home = await newOrganization()
  ada = await newHuman(home, { password: unique('Password') })
  grace = await newHuman(home, { password: unique('Password') })
  const settings = { redirectUris: [redirectUri], devMode: true, authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE' }
  clientId = (await newApplication(home, await newProject(home), settings)).clientId
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath, args })
})
afterAll(async () => {
  await browser?.close()
  application?.close()
})

function request(more: Record<string, string> = {}): string {
  const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url')
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const own = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid email' }
  return `${url}/oauth/v2/authorize?${new URLSearchParams({ ...own, ...pkce, state: 's', ...more }).toString()}`
}

async function open(link: string): Promise<Page> {
  const page = await (await browser.newContext({ locale: 'en-GB', javaScriptEnabled: false })).newPage()
  await page.goto(link)
  return page
}

async function signIn(page: Page, password = ada.password, { userName } = ada) {
  await page.getByLabel('Login name').fill(userName)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
}

/** Walks to a button by the keyboard, and presses it. */
async function press(page: Page, name: string) {
  const walk = async () => {
    await page.keyboard.press('Tab')
    return page.evaluate('document.activeElement.textContent.trim()')
  }
  await expect.poll(walk, { interval: 0, timeout: 20_000 }).toBe(name)
  await page.keyboard.press('Enter')
}

describe.skipIf(missing)(`in Chromium without script${missing ? ' (skipped: there is no Chromium)' : ''}`, () => {
  test('a person signs in, consents once, and then comes back without a page', async () => {
    const page = await open(request())
    await signIn(page, 'Wrong-Password-1')
    await page.getByRole('alert').getByText('do not match').waitFor()
    await signIn(page)
    await page.getByRole('heading', { name: 'Allow access?' }).waitFor()
    await page.getByText('see your email address').waitFor()
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByText('arrived').waitFor()
    await page.goto(request({ state: 't' }))
    await page.getByText('arrived').waitFor()
    const answer = { iss: url, code: expect.any(String) as string }
    expect(answers.splice(0)).toEqual([
      { ...answer, state: 's' },
      { ...answer, state: 't' },
    ])
    await page.goBack()
    await page.goto(request({ prompt: 'select_account', ui_locales: 'de' }))
    await page.getByRole('heading', { name: 'Konto wählen' }).waitFor()
    await page.getByRole('button', { name: ada.userName }).click()
    await page.getByText('arrived').waitFor()
    expect(answers.splice(0)).toEqual([{ ...answer, state: 's' }])
    const cookies = await page.context().cookies(url)
    expect(cookies).toMatchObject([{ name: 'roster-browser', httpOnly: true, sameSite: 'Lax' }])
    await page.context().close()
  })

  test('a person sees the own account, and ends what is there, by the keyboard alone', async () => {
    const page = await open(request())
    await signIn(page, grace.password, grace)
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByText('arrived').waitFor()
    const elsewhere = await open(`${url}/ui/account`)
    await elsewhere.getByText(`Continue to your account at ${new URL(url).host}`).waitFor()
    await signIn(elsewhere, grace.password, grace)
    await elsewhere.getByRole('heading', { name: 'Your account' }).waitFor()
    await page.goto(`${url}/ui/account`)
    const follow = async (name: string) => {
      await page.getByRole('link', { name, exact: true }).focus()
      await page.keyboard.press('Enter')
    }
    await follow('Activity')
    await page.getByRole('heading', { name: 'Where you are signed in (2)' }).waitFor()
    await press(page, 'Sign out there')
    await page.getByRole('heading', { name: 'Where you are signed in (1)' }).waitFor()
    await elsewhere.reload()
    await elsewhere.getByLabel('Password').waitFor()
    await follow('Connected apps')
    await press(page, 'Remove access')
    await page.getByRole('heading', { name: 'Connected apps (0)' }).waitFor()
    await press(page, 'Sign out in this browser')
    await page.getByLabel('Password').waitFor()
    answers = []
    for (const each of [page, elsewhere]) await each.context().close()
  })

  test.each([30, 80, 200])('two clicks on "Sign in" %i ms apart sign in', async (apart) => {
    const page = await (await browser.newContext({ locale: 'en-GB' })).newPage()
    await page.goto(request())
    await page.getByLabel('Login name').fill(grace.userName)
    await page.getByLabel('Password').fill(grace.password)
    // The browser drops the answer to the first.
    await page.getByRole('button', { name: 'Sign in' }).evaluate((button: { click(): void }, wait) => {
      button.click()
      setTimeout(() => button.click(), wait)
    }, apart)
    await page.getByRole('heading', { name: 'Allow access?' }).waitFor()
    await page.context().close()
  })

  test('whose password somebody else set chooses another one on the way to the application, and nothing else opens before', async () => {
    const handed = unique('Handed')
    const lin = await newHuman(ada.organization, { password: handed, passwordChangeRequired: true })
    const page = await open(request())
    await signIn(page, handed, lin)
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
    const other = await page.context().newPage()
    await other.goto(`${url}/ui/account`)
    await other.getByRole('heading', { name: 'Choose a new password' }).waitFor()
    const enter = async (at: Page, password: string) => {
      // As a browser without its rules.
      await at.evaluate('document.forms[0].noValidate = true')
      await at.getByLabel('New password').fill(password)
      await at.keyboard.press('Enter')
    }
    for (const [password, said] of [
      ['short', 'Please choose a password of 8 to 200 characters.'],
      ['password', 'too easy to guess'],
      [handed, 'the password that you have now'],
    ]) {
      await enter(page, password!)
      await page.getByRole('alert').getByText(said!).waitFor()
    }
    const own = unique('Own')
    recordSecret(own)
    await enter(page, own)
    await page.getByRole('heading', { name: 'Allow access?' }).waitFor()
    await page.goBack()
    await page.goForward()
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByText('arrived').waitFor()
    expect(answers.splice(0)).toMatchObject([{ code: expect.any(String) as string }])
    // The other tab sets no second one.
    await enter(other, unique('Other'))
    await other.waitForURL('**/ui/account')
    await other.context().close()
    const later = await open(request({ prompt: 'login' }))
    await signIn(later, handed, lin)
    await later.getByRole('alert').getByText('do not match').waitFor()
    await later.getByLabel('Password').fill(own)
    await later.keyboard.press('Enter')
    await later.getByText('arrived').waitFor()
    expect(answers.splice(0)).toMatchObject([{ code: expect.any(String) as string }])
    await later.context().close()
  })

  test('who cancels goes back only by a link', async () => {
    const page = await open(request())
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'You did not sign in' }).waitFor()
    expect(answers).toEqual([])
    await page.getByRole('link', { name: 'Back to the application' }).click()
    await page.getByText('arrived').waitFor()
    expect(answers.splice(0)).toEqual([expect.objectContaining({ error: 'access_denied', iss: url, state: 's' })])
    await page.context().close()
  })

  test('the page of a request is nothing in another browser, whoever is signed in there', async () => {
    const page = await open(request())
    const other = await open(request())
    await signIn(other, grace.password, grace)
    await other.getByRole('button', { name: 'Allow', exact: true }).click()
    await other.getByText('arrived').waitFor()
    answers = []
    await other.goto(page.url())
    await other.getByRole('heading', { name: 'This link has expired' }).waitFor()
    await page.reload()
    await page.getByLabel('Password').waitFor()
    expect(answers).toEqual([])
    await page.context().close()
    await other.context().close()
  })
})
