import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenApi } from '#test/support/openapi'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)

let browser: Browser
let gateway: TestGateway

beforeAll(async () => {
  if (missing) return
  gateway = await startTestGateway()
  // There is no network but this machine's own: no name leads anywhere.
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  args.push('--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1')
  browser = await chromium.launch({ executablePath, args })
})
afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function open(path = '/docs', options: BrowserContextOptions = {}, change?: (document: OpenApi) => void) {
  // The viewer drops operations that are out of sight from a long page.
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 15_000 }, ...options })).newPage()
  const faults: string[] = []
  const foreign: string[] = []
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${gateway.url}/`) && !request.url().startsWith('data:')) foreign.push(request.url())
  })
  if (change)
    await page.route('**/openapi.json', async (route) => {
      const document = (await (await route.fetch()).json()) as OpenApi
      change(document)
      await route.fulfill({ json: document })
    })
  await page.goto(gateway.url + path)
  return { page, faults, foreign }
}

const screen = { viewport: { width: 1280, height: 800 } }
const operation = (page: Page, id: string) => page.locator(`.opblock[id$="-${id}"]`)

describe.skipIf(missing)(
  `the page /docs in Chromium, without a network${missing ? ' (skipped: there is no /usr/bin/chromium)' : ''}`,
  () => {
    test('shows the operations of the document, and what one of them takes, without any fault', async () => {
      const { page, faults, foreign } = await open()
      await page.getByRole('heading', { name: 'Roster' }).first().waitFor()
      const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as OpenApi
      const { paths } = document
      const tags = new Set(Object.values(paths).flatMap((path) => Object.values(path).flatMap((one) => one.tags)))
      const shown = page.locator('.opblock-tag')
      await expect.poll(() => shown.count(), { timeout: 30_000 }).toBe(tags.size)
      expect(await page.evaluate("[...document.querySelectorAll('.opblock-tag')].map(({ id }) => id)")).toEqual(
        document.tags.map(({ name }) => `operations-tag-${name}`),
      )
      // Of many open ones at once, the viewer renders those in view alone.
      const operations = Object.values(paths).flatMap((path) => Object.values(path))
      for (const tag of tags) {
        const heading = page.locator(`[id="operations-tag-${tag}"]`)
        await heading.click()
        const number = operations.filter((one) => one.tags[0] === tag).length
        await expect.poll(() => page.locator('.opblock').count(), { timeout: 30_000 }).toBe(number)
        await heading.click()
        await expect.poll(() => page.locator('.opblock').count(), { timeout: 30_000 }).toBe(0)
      }
      await page.locator('[id="operations-tag-UserService"]').click()
      await operation(page, 'AddHumanUser').locator('.opblock-summary').click()
      await operation(page, 'AddHumanUser').getByText('user.write').first().waitFor()
      await operation(page, 'AddHumanUser').getByText('"ada@example.com"').first().waitFor()
      expect(foreign).toEqual([])
      expect(faults).toEqual([])
      await page.context().close()
    })

    test('shows the first sentence of a long text, and folds the rest, in which it takes nothing for HTML', async () => {
      const { page, faults } = await open('/docs#/SessionService/CreateSession', screen, (document) => {
        document.tags[0]!.description = `First. Second <b id="bold">${'long '.repeat(50)}</b> \`<i id="code">\`.`
      })
      const session = operation(page, 'CreateSession')
      await session.getByText('Signs a human in with a password.').waitFor()
      const reason = session.locator('details').getByText('CREDENTIALS_INVALID').first()
      expect(await reason.isVisible()).toBe(false)
      await session.getByText('More', { exact: true }).click()
      await reason.waitFor()
      await page.locator('.opblock-tag summary').first().click()
      await page.getByText('<b id="bold">').waitFor()
      await page.getByText('<i id="code">').waitFor()
      expect(await page.locator('#bold, #code').count()).toBe(0)
      expect(faults).toEqual([])
      await page.context().close()
    })

    test('is dark for a reader who prefers that, also once they change, and fits on a narrow screen', async () => {
      const { page, faults } = await open('/docs', { colorScheme: 'dark', viewport: { width: 390, height: 800 } })
      await page.locator('.opblock-tag').first().waitFor()
      const brightness = async () => {
        const colour = await page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
        return Math.max(...colour.match(/\d+/g)!.slice(0, 3).map(Number))
      }
      expect(await brightness()).toBeLessThan(50)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      await page.emulateMedia({ colorScheme: 'light' })
      await expect.poll(() => page.locator('html').getAttribute('class')).not.toContain('dark-mode')
      expect(faults).toEqual([])
      await page.context().close()
    })

    test('opens an operation that the address names', async () => {
      const { page, faults, foreign } = await open('/docs#/UserService/GetUser', screen)
      await operation(page, 'GetUser').getByText('user.read').first().waitFor()
      // The example of an answer is made of those of its fields.
      await operation(page, 'GetUser').getByText('"Lovelace"').first().waitFor()
      expect([...faults, ...foreign]).toEqual([])
      await page.context().close()
    })
  },
)
