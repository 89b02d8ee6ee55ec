import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newHuman, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication } from '../../examples/sign-in.ts'
import { call } from '../clients/encodings.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath) || !hasMailbox()
const { url } = inject('roster')

let browser: Browser
let home: string
let application: ExampleApplication
beforeAll(async () => {
  if (missing) return
  home = await newOrganization()
  application = await newWebApplication(home, await newProject(home))
  const settings = { allowUsernamePassword: false, allowMailedCodes: true }
  ok(await call('UpdateLoginPolicy', { settings }, admin(home)))
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath, args })
})
afterAll(() => browser?.close())

describe.skipIf(missing).each([true, false])('in Chromium, with script: %j', (javaScriptEnabled) => {
  test('a person signs in by the keyboard alone: the name, the mailed code, and no password', async () => {
    const { email, userName } = await newHuman(home)
    const page = await (await browser.newContext({ locale: 'en-GB', javaScriptEnabled })).newPage()
    await page.route('https://app.example.com/**', (route) => route.fulfill({ body: 'arrived' }))
    await page.goto(`${url}${authorizePath(application)}`)
    expect(await page.getByLabel('Password').count()).toBe(0)
    // The field of the name has the focus.
    await page.keyboard.type(userName)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sign in with the code' }).waitFor()
    const { code } = await mailTo(email)
    await page.keyboard.type('ZZZZZZ')
    await page.keyboard.press('Enter')
    expect(await page.getByRole('alert').textContent()).toContain('This code is wrong')
    await page.keyboard.type(code)
    await page.keyboard.press('Enter')
    await page.waitForURL('https://app.example.com/**')
    expect(new URL(page.url()).searchParams.get('code')).not.toBeNull()
  })
})
