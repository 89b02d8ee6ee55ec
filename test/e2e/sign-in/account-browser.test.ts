import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type ExampleHuman, getUser, newHuman, newOrganization, unique, uniqueEmail } from '../../examples/people.ts'
import { recordSecret } from '../clients/encodings.ts'
import { hasMailbox, linkTo, mailTo, noticeTo } from '../mailbox.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)
const { url } = inject('roster')

let browser: Browser
let home: string
beforeAll(async () => {
  if (missing) return
  home = await newOrganization()
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath, args })
})
afterAll(() => browser?.close())

/** Fills the field that has this label, and presses Enter. */
async function enter(page: Page, label: string, text: string) {
  await page.getByLabel(label, { exact: true }).fill(text)
  await page.keyboard.press('Enter')
}

async function follow(page: Page, name: string) {
  await page.getByRole('link', { name, exact: true }).focus()
  await page.keyboard.press('Enter')
}

async function signIn(page: Page, { userName, password }: ExampleHuman) {
  await page.goto(`${url}/ui/account`)
  await page.getByLabel('Login name').fill(userName)
  await enter(page, 'Password', password)
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
}

describe.skipIf(missing || !hasMailbox()).each([
  ['with script', true],
  ['without script', false],
])('in Chromium %s, by the keyboard,', (_, javaScriptEnabled) => {
  const open = (): Promise<BrowserContext> => browser.newContext({ locale: 'en-GB', javaScriptEnabled })

  test('a thief with the cookie changes address and password, and the owner takes the account back', async () => {
    const person = await newHuman(home, { password: unique('Password') })
    const [ownersBrowser, thiefsBrowser] = [await open(), await open()]
    const owner = await ownersBrowser.newPage()
    await signIn(owner, person)
    await thiefsBrowser.addCookies(await ownersBrowser.cookies())
    const thief = await thiefsBrowser.newPage()
    const email = uniqueEmail()
    await thief.goto(`${url}/ui/account`)
    await follow(thief, 'Change the address')
    await enter(thief, 'New email address', email)
    await thief.getByText('A code is on its way').waitFor()
    await enter(thief, 'Code from the mail', (await mailTo(email)).code)
    await thief.getByText('The address is verified.').waitFor()
    await follow(thief, 'Sign-in')
    await follow(thief, 'Change the password')
    const password = unique('Thief')
    recordSecret(password)
    await enter(thief, 'New password', password)
    await thief.getByText('Your password is changed').waitFor()

    await owner.goto(linkTo((await noticeTo(person.email)).text))
    await owner.getByRole('heading', { name: 'Take the change back?' }).waitFor()
    expect((await getUser(person.userId)).human.email.email).toBe(email)
    await owner.getByRole('button', { name: 'Take the change back' }).focus()
    await owner.keyboard.press('Enter')
    await owner.getByRole('heading', { name: 'You have your account back' }).waitFor()
    expect((await getUser(person.userId)).human.email.email).toBe(person.email)
    await thief.reload()
    await thief.getByLabel('Password', { exact: true }).waitFor()
    await follow(owner, 'New password')
    await owner.getByRole('heading', { name: /password/i }).waitFor()
    for (const context of [ownersBrowser, thiefsBrowser]) await context.close()
  })
})
