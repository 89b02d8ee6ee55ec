import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { AxeResults } from 'axe-core'
import type { JsonObject } from '@bufbuild/protobuf'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { freePort } from '../../../../../deploy/local/ports.ts'
import { startTestGateway, type TestGateway } from '../../../testing/test-gateway.ts'
import { page1 } from './parts.ts'

// Chromium before a gateway whose users answer as a test says, and an application that takes what comes.

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
export const missing = !existsSync(executablePath)

export let browser: Browser
export let gateway: TestGateway
let application: Server
/** The application's address, on another site than the gateway. */
export let app: string
/** What the application got. */
export const arrived: {
  method: string | undefined
  url: string | undefined
  referer: string | undefined
  body: string
}[] = []
/** What users answers in this test, by method. */
export const users: Record<string, (request: JsonObject) => JsonObject> = {}
/** What a policy forbade in this test. */
export const forbidden: string[] = []

export async function openPages(): Promise<void> {
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
}

export async function closePages(): Promise<void> {
  tabs.clear()
  await browser?.close()
  application?.close()
  await gateway?.stop()
}

/** Forgets what a test before did. */
export function beginAnew(): void {
  for (const list of [arrived, forbidden]) list.length = 0
  answerBy({})
}

/** What users answers from now on. */
export function answerBy(answers: typeof users): void {
  for (const name of Object.keys(users)) delete users[name]
  Object.assign(users, answers)
}

async function take(request: IncomingMessage) {
  const { method, url, headers } = request
  let body = ''
  for await (const chunk of request) body += String(chunk)
  if (url !== '/favicon.ico') arrived.push({ method, url, referer: headers.referer, body })
}

export async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
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
export async function show(screen: JsonObject, options: BrowserContextOptions = {}): Promise<Page> {
  users['ShowSignIn'] = () => screen
  const wanted = JSON.stringify(options)
  const page = tabs.get(wanted) ?? (await open('about:blank', options))
  tabs.set(wanted, page)
  await page.goto(gateway.url + page1)
  return page
}

const tabs = new Map<string, Page>()

// Each page gets it, so the short form.
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const wanted = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** What may differ in other colours: all else is the same page. */
export const ofColors = ['color-contrast', 'link-in-text-block']

export async function faultsOf(page: Page, runOnly = wanted): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  const { violations } = (await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(runOnly)} })`)) as AxeResults
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
