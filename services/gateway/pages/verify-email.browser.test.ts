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
/** The requests of the page, and the answer to them: a status, with a Retry-After, or 0 for a cut connection. */
let asked: { method: string; url: string; type: string | undefined; body: string }[]
let answer: { status: number; retryAfter?: number }

beforeAll(async () => {
  if (missing) return
  server = createServer((request, response) => void respond(request, response)).listen(0, '127.0.0.1')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  args.push('--disable-component-update', '--disable-sync')
  browser = await chromium.launch({ executablePath, args })
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await browser?.close()
  server?.close()
})
beforeEach(() => {
  asked = []
  answer = { status: 200 }
})

const link = '/ui/verify-email#userId=u-1&code=ABC234'

async function open(path = link, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  const page = await context.newPage()
  // Everything that the policy forbids shows up here.
  page.on('console', (message) => expect(message.text()).not.toContain('Content Security Policy'))
  page.on('pageerror', (error) => expect.unreachable(error.message))
  await page.goto(site + path)
  return page
}

const button = (page: Page) => page.getByRole('button', { name: 'Verify my email address' })
const status = (page: Page) => page.getByRole('status')

describe.skipIf(missing)(
  `the verification page in Chromium${missing ? ' (skipped: there is no /usr/bin/chromium)' : ''}`,
  () => {
    it('verifies at a click, not before, and says so', async () => {
      const page = await open()
      expect(await page.getByLabel('Code from the mail').inputValue()).toBe('ABC234')
      expect(asked).toEqual([])
      await button(page).click()
      await page.getByRole('heading', { name: 'Your email address is verified' }).waitFor()
      const body = '{"verificationCode":"ABC234"}'
      expect(asked).toEqual([{ method: 'POST', url: '/v2/users/u-1/email/verify', type: 'application/json', body }])
      expect(await page.title()).toBe('Your email address is verified')
      expect(await button(page).isVisible()).toBe(false)
      expect(await page.evaluate('document.activeElement.id')).toBe('title')
      await page.context().close()
    })

    it('takes the code out of the address bar and the history', async () => {
      const page = await open()
      expect(page.url()).toBe(`${site}/ui/verify-email`)
      await page.goto(`${site}/ui/verify-email.css`)
      await page.goBack()
      expect(page.url()).toBe(`${site}/ui/verify-email`)
      await page.context().close()
    })

    it('takes a second link in the same tab', async () => {
      const page = await open()
      await page.goto(`${site}/ui/verify-email#userId=u-2&code=NEW567`)
      await page.waitForFunction(`document.querySelector('#code').value === 'NEW567'`)
      await button(page).click()
      await page.getByRole('heading', { name: 'is verified' }).waitFor()
      expect(asked[0]).toMatchObject({ url: '/v2/users/u-2/email/verify', body: '{"verificationCode":"NEW567"}' })
      await page.context().close()
    })

    it.each([
      [{ status: 400 }, 'This code does not work'],
      [{ status: 429, retryAfter: 30 }, 'Please wait 30 seconds'],
      [{ status: 429, retryAfter: 600 }, 'Please wait 10 minutes'],
      [{ status: 503 }, 'Your code is still good'],
      [{ status: 0 }, 'could not be reached'],
    ])('told %j says "%s", and a second try may succeed', async (refusal, message) => {
      answer = refusal
      const page = await open()
      await button(page).click()
      await status(page).getByText(message).waitFor()
      answer = { status: 200 }
      await page.getByLabel('Code from the mail').fill(' new 567 ')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'is verified' }).waitFor()
      expect(asked.at(-1)!.body).toBe('{"verificationCode":"new 567"}')
      await page.context().close()
    })

    it('leads to the code where it is wrong', async () => {
      answer = { status: 400 }
      const page = await open()
      await button(page).click()
      await status(page).getByText('This code does not work').waitFor()
      expect(await page.evaluate('document.activeElement.id')).toBe('code')
      expect(await page.getByLabel('Code from the mail').getAttribute('aria-invalid')).toBe('true')
      await page.context().close()
    })

    it('asks for the user ID where the link lost it, and goes by keyboard alone', async () => {
      const page = await open('/ui/verify-email#code=ABC234')
      expect(await page.getByText('Your link is not complete').isVisible()).toBe(true)
      await page.keyboard.press('Tab')
      await page.keyboard.type('u/3')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'is verified' }).waitFor()
      expect(asked[0]!.url).toBe('/v2/users/u%2F3/email/verify')
      await page.context().close()
    })

    it('takes nothing of the link for HTML', async () => {
      const evil = encodeURIComponent('"><img src=x onerror=alert(1)>')
      const page = await open(`/ui/verify-email#userId=${evil}&code=${evil}&title=${evil}`)
      expect(await page.locator('img').count()).toBe(0)
      expect(await page.getByLabel('Code from the mail').inputValue()).toContain('"><img')
      await page.context().close()
    })

    it('speaks German to a reader that prefers it, and names its language', async () => {
      const page = await open(link, { locale: 'de-AT' })
      await page.getByRole('button', { name: 'E-Mail-Adresse bestätigen' }).click()
      await page.getByRole('heading', { name: 'Ihre E-Mail-Adresse ist bestätigt' }).waitFor()
      expect(await page.locator('html').getAttribute('lang')).toBe('de')
      await page.context().close()
    })

    it('fits on 320 pixels', async () => {
      answer = { status: 400 }
      const page = await open(link, { viewport: { width: 320, height: 640 } })
      await button(page).click()
      await status(page).getByText('This code does not work').waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
      await page.context().close()
    })

    it('says without JavaScript what to do', async () => {
      const page = await open(link, { javaScriptEnabled: false })
      await page.getByText('This page needs JavaScript').waitFor()
      expect(await page.getByRole('button').count()).toBe(0)
      await page.context().close()
    })
  },
)

const files: Record<string, [string, string]> = {
  '/ui/verify-email': ['verify-email.html', 'text/html; charset=utf-8'],
  '/ui/verify-email.js': ['verify-email.js', 'text/javascript; charset=utf-8'],
  '/ui/verify-email.css': ['verify-email.css', 'text/css; charset=utf-8'],
}

// The gateway serves pages with this policy.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '', headers } = request
  const file = files[url]
  if (file) {
    response.writeHead(200, { 'content-security-policy': policy, 'content-type': file[1] })
    return void response.end(readFileSync(new URL(file[0], import.meta.url)))
  }
  if (method !== 'POST') return void response.writeHead(404).end()
  const body = (await request.toArray()).join('')
  asked.push({ method, url, type: headers['content-type'], body })
  if (answer.status === 0) return void request.socket.destroy()
  const { status: code, retryAfter } = answer
  response.writeHead(code, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }).end('{}')
}
