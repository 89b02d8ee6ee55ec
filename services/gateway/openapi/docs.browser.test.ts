import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
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

async function open(path = '/docs') {
  // The viewer drops operations that are out of sight from a long page.
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 15_000 } })).newPage()
  const faults: string[] = []
  const foreign: string[] = []
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${gateway.url}/`) && !request.url().startsWith('data:')) foreign.push(request.url())
  })
  await page.goto(gateway.url + path)
  return { page, faults, foreign }
}

const operation = (page: Page, id: string) => page.locator(`.opblock[id$="-${id}"]`)

describe.skipIf(missing)(
  `the page /docs in Chromium, without a network${missing ? ' (skipped: there is no /usr/bin/chromium)' : ''}`,
  () => {
    test('shows the operations of the document, and what one of them takes, without any fault', async () => {
      const { page, faults, foreign } = await open()
      await page.getByRole('heading', { name: 'Roster' }).first().waitFor()
      const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as OpenApi
      const tags = new Set(Object.values(paths).flatMap((path) => Object.values(path).flatMap((one) => one.tags)))
      const shown = page.locator('.opblock-tag')
      await expect.poll(() => shown.count(), { timeout: 30_000 }).toBe(tags.size)
      for (const tag of await shown.all()) await tag.click()
      const number = Object.values(paths).flatMap((path) => Object.keys(path)).length
      await expect.poll(() => page.locator('.opblock').count(), { timeout: 30_000 }).toBe(number)

      await operation(page, 'AddHumanUser').locator('.opblock-summary').click()
      await operation(page, 'AddHumanUser').getByText('user.write').first().waitFor()
      await operation(page, 'AddHumanUser').getByText('"ada@example.com"').first().waitFor()
      expect(foreign).toEqual([])
      expect(faults).toEqual([])
      await page.context().close()
    })

    test('opens an operation that the address names', async () => {
      const { page, faults, foreign } = await open('/docs#/UserService/GetUser')
      await operation(page, 'GetUser').getByText('user.read').first().waitFor()
      expect([...faults, ...foreign]).toEqual([])
      await page.context().close()
    })
  },
)
