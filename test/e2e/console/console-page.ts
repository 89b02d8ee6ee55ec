import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect, inject } from 'vitest'
import type { ExampleHuman } from '../../examples/people.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A console in Chromium, with all that went wrong in it. */
export interface ConsolePage {
  page: Page
  /** What the policy forbade, errors of the page, and dialogs that a foreign script opened. */
  faults: string[]
  /** The operations that were called, by their names, in order. */
  calls: string[]
  goto(path: string): Promise<void>
}

/** Opens the console as a person, at a path below the one of the organization. */
export async function openConsole(
  browser: Browser,
  person: ExampleHuman,
  path: string,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const { url } = inject('roster')
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  const faults: string[] = []
  const calls: string[] = []
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted|TypeError/.test(message.text())) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error.stack ?? error)))
  page.on('dialog', (dialog) => {
    faults.push(dialog.message())
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const [, name] = /\/roster\.[\w.]+\/(\w+)$/.exec(request.url()) ?? []
    if (name) calls.push(name)
  })
  await signIn(page, person)
  calls.length = 0
  const goto = async (to: string) => {
    await page.goto(`${url}/ui/console/o/${person.organization}${to}`)
    await page.locator('h1, .quiet').first().waitFor()
  }
  await goto(path)
  return { page, faults, calls, goto }
}

// A person signs in once in a file: a password takes its time.
const cookies = new Map<string, Awaited<ReturnType<BrowserContext['cookies']>>>()

async function signIn(page: Page, { userId, userName, password }: ExampleHuman) {
  const known = cookies.get(userId)
  if (known) return page.context().addCookies(known)
  await page.goto(`${inject('roster').url}/ui/console/o/any/people`)
  await page.locator('[name=login_name]').fill(userName)
  await page.locator('[name=password]').fill(password)
  await page.keyboard.press('Enter')
  // Back where it began, which is an organization that nobody has.
  await page.waitForURL('**/ui/console/o/any/people')
  await page.locator('.quiet').waitFor()
  cookies.set(userId, await page.context().cookies())
}

/** Expects that axe finds nothing in what is shown. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const { violations } = (await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(runOnly)} })`)) as AxeResults
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
  expect(found).toEqual([])
}
