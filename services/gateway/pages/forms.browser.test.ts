import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)

let browser: Browser
let server: Server
let site: string
/** Every request, and those of the forms. */
let seen: { url: string; referer: string | undefined }[]
let asked: { url: string; body: string }[]
let answer: { status: number; reason?: string; retryAfter?: number }

beforeAll(async () => {
  if (missing) return
  server = createServer((request, response) => void respond(request, response)).listen(0, '127.0.0.1')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath, args })
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await browser?.close()
  server?.close()
})
beforeEach(() => {
  ;[seen, asked] = [[], []]
  answer = { status: 200 }
})

const link = '/ui/reset-password#userId=u%2F1&code=ABC234'

async function open(path = link, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  const page = await context.newPage()
  // Everything that the policy forbids shows up here.
  page.on('console', (message) => expect(message.text()).not.toContain('Content Security Policy'))
  page.on('pageerror', (error) => expect.unreachable(error.message))
  await page.goto(site + path)
  return page
}

const status = (page: Page) => page.getByRole('status')

async function fill(page: Page, password: string, again = password) {
  await page.getByLabel('New password', { exact: true }).fill(password)
  await page.getByLabel('New password again').fill(again)
  await page.getByRole('button', { name: 'Set password' }).click()
}

describe.skipIf(missing)(`in Chromium${missing ? ' (skipped: there is no /usr/bin/chromium)' : ''}`, () => {
  describe('the page for a new password', () => {
    it('sets the password that was entered twice, by keyboard alone, and says so', async () => {
      const page = await open()
      expect(asked).toEqual([])
      await page.getByLabel('Code from the email').focus()
      await page.keyboard.press('Tab')
      await page.keyboard.type('New-Password-1')
      // Over the button that shows it.
      for (const _ of [1, 2]) await page.keyboard.press('Tab')
      await page.keyboard.type('New-Password-1')
      for (const _ of [1, 2]) await page.keyboard.press('Tab')
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Your password is set' }).waitFor()
      const body = '{"verificationCode":"ABC234","newPassword":"New-Password-1"}'
      expect(asked).toEqual([{ url: '/v2/users/u%2F1/password/_reset', body }])
      expect(await page.evaluate('document.activeElement.id')).toBe('title')
      expect(await page.getByLabel('New password again').inputValue()).toBe('')
      await page.context().close()
    })

    it('lets no server see the code in an address or a Referer, and leaves none in the history', async () => {
      const page = await open()
      expect(page.url()).toBe(`${site}/ui/reset-password`)
      await fill(page, 'New-Password-1')
      await page.getByRole('heading', { name: 'is set' }).waitFor()
      await page.goto(`${site}/ui/verify-email.css`)
      await page.goBack()
      expect(page.url()).toBe(`${site}/ui/reset-password`)
      expect(JSON.stringify(seen)).not.toContain('ABC234')
      await page.context().close()
    })

    it('sends nothing where the two do not match, or too short, and leads there', async () => {
      const page = await open()
      await fill(page, 'New-Password-1', 'New-Password-2')
      await status(page).getByText('do not match').waitFor()
      expect(await page.evaluate('document.activeElement.id')).toBe('repeated')
      await fill(page, 'short')
      await status(page).getByText('8 to 200 characters').waitFor()
      expect(await page.evaluate('document.activeElement.id')).toBe('password')
      expect(asked).toEqual([])
      await page.context().close()
    })

    it.each([
      [{ status: 400, reason: 'CODE_INVALID' }, 'This code does not work'],
      [{ status: 400, reason: 'VALIDATION_FAILED' }, '8 to 200 characters'],
      [{ status: 400, reason: 'PASSWORD_TOO_COMMON' }, 'too easy to guess'],
      [{ status: 429, retryAfter: 30 }, 'Please wait 30 seconds'],
      [{ status: 429, retryAfter: 600 }, 'Please wait 10 minutes'],
      [{ status: 503 }, 'Your code is still valid'],
      [{ status: 0 }, 'could not reach the service'],
    ])('answered with %j says "%s", and a second try may succeed', async (refusal, message) => {
      answer = refusal
      const page = await open()
      await fill(page, 'New-Password-1')
      await status(page).getByText(message).waitFor()
      answer = { status: 200 }
      await page.getByRole('button', { name: 'Set password' }).click()
      await page.getByRole('heading', { name: 'is set' }).waitFor()
      await page.context().close()
    })

    it('shows what was typed, by keyboard, says how good it is, and hides it again when it is sent', async () => {
      answer = { status: 400, reason: 'PASSWORD_TOO_COMMON' }
      const page = await open()
      const password = page.getByLabel('New password', { exact: true })
      const show = page.getByRole('button', { name: 'Show' }).first()
      const hint = page.locator('#password-hint')
      await password.focus()
      const said: (string | null)[] = []
      for (const typed of ['short', '11111111', 'k8Jf9sLq', 'violet umbrella', '']) {
        await password.fill(typed)
        said.push(await hint.textContent())
      }
      expect(said).toEqual([
        expect.stringContaining('Still too short'),
        expect.stringContaining('Still easy to guess'),
        expect.stringContaining('15 or more'),
        expect.stringContaining('Good length'),
        expect.stringContaining('At least 8'),
      ])
      expect(await hint.getAttribute('aria-live')).toBe('polite')
      await password.fill('Password1')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Space')
      expect([await password.getAttribute('type'), await show.getAttribute('aria-pressed')]).toEqual(['text', 'true'])
      await page.getByLabel('New password again').fill('Password1')
      await page.keyboard.press('Enter')
      await status(page).getByText('too easy to guess').waitFor()
      expect([await password.getAttribute('type'), await show.getAttribute('aria-pressed')]).toEqual([
        'password',
        'false',
      ])
      expect(await page.evaluate('document.activeElement.id')).toBe('password')
      expect(await password.inputValue()).toBe('Password1')
      await page.context().close()
    })

    it('takes nothing of the link for HTML', async () => {
      const evil = encodeURIComponent('"><img src=x onerror=alert(1)>')
      const page = await open(`/ui/reset-password#userId=${evil}&code=${evil}&title=${evil}`)
      expect(await page.locator('img').count()).toBe(0)
      expect(await page.getByLabel('Code from the email').inputValue()).toContain('"><img')
      await page.context().close()
    })
  })

  describe('the page for a forgotten password', () => {
    it('asks for the login name, and says the same whatever the server knows', async () => {
      const page = await open('/ui/forgot-password')
      await page.getByLabel('Login name').fill(' ada@acme.example ')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Check your email' }).waitFor()
      expect(asked).toEqual([{ url: '/v2/users/password_reset', body: '{"loginName":"ada@acme.example"}' }])
      await status(page).getByText('If an account of this name').waitFor()
      await page.context().close()
    })
  })

  describe('the page that verifies an address', () => {
    const button = (page: Page) => page.getByRole('button', { name: 'Verify my email address' })

    it('verifies at a click, not before, and says so', async () => {
      const page = await open('/ui/verify-email#userId=u-1&code=ABC234')
      expect(asked).toEqual([])
      await button(page).click()
      await page.getByRole('heading', { name: 'Your email address is verified' }).waitFor()
      expect(asked).toEqual([{ url: '/v2/users/u-1/email/verify', body: '{"verificationCode":"ABC234"}' }])
      expect(await page.title()).toBe('Your email address is verified')
      expect(await button(page).isVisible()).toBe(false)
      await page.context().close()
    })

    it('takes a second link in the same tab, and leads to the code where it is wrong', async () => {
      answer = { status: 400 }
      const page = await open('/ui/verify-email#userId=u-1&code=ABC234')
      await page.goto(`${site}/ui/verify-email#userId=u-2&code=NEW567`)
      await page.waitForFunction(`document.querySelector('#code').value === 'NEW567'`)
      await button(page).click()
      await status(page).getByText('This code does not work').waitFor()
      expect(asked[0]).toMatchObject({ url: '/v2/users/u-2/email/verify', body: '{"verificationCode":"NEW567"}' })
      expect(await page.evaluate('document.activeElement.id')).toBe('code')
      expect(await page.getByLabel('Code from the email').getAttribute('aria-invalid')).toBe('true')
      await page.context().close()
    })

    it('asks for the user ID where the link lost it', async () => {
      const page = await open('/ui/verify-email#code=ABC234')
      expect(await page.getByText('Your link is incomplete').isVisible()).toBe(true)
      await page.getByLabel('User ID').fill('u/3')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'is verified' }).waitFor()
      expect(asked[0]!.url).toBe('/v2/users/u%2F3/email/verify')
      await page.context().close()
    })
  })

  it.each([
    ['/ui/verify-email', 'E-Mail-Adresse bestätigen'],
    ['/ui/forgot-password', 'Passwort vergessen'],
    ['/ui/reset-password', 'Neues Passwort wählen'],
  ])('%s speaks German to a reader that prefers it, and fits on 320 pixels', async (path, title) => {
    const page = await open(path, { locale: 'de-AT', viewport: { width: 320, height: 640 } })
    await page.getByRole('heading', { name: title }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
    await page.context().close()
  })

  it('without JavaScript, the page that verifies an address says what to do', async () => {
    const page = await open('/ui/verify-email', { javaScriptEnabled: false })
    await page.getByText('This page needs JavaScript').waitFor()
    expect(await page.getByRole('button').count()).toBe(0)
    await page.context().close()
  })
})

// The gateway serves pages with this policy.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
const types: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '', headers } = request
  if (!url.startsWith('/favicon')) seen.push({ url, referer: headers.referer })
  const [, name, ending = 'html'] = /^\/ui\/([a-z-]+)(?:\.(js|css))?$/.exec(url) ?? []
  if (name !== undefined) {
    const type = `${types[ending]}; charset=utf-8`
    const page = { 'content-security-policy': policy, 'content-type': type, 'referrer-policy': 'same-origin' }
    return void response.writeHead(200, page).end(readFileSync(new URL(`${name}.${ending}`, import.meta.url)))
  }
  if (method !== 'POST') return void response.writeHead(404).end()
  asked.push({ url, body: (await request.toArray()).join('') })
  const { status: code, reason, retryAfter } = answer
  if (code === 0) return void request.socket.destroy()
  const retry = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  response.writeHead(code, retry).end(JSON.stringify(reason === undefined ? {} : { details: [{ reason }] }))
}
