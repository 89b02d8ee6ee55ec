import { hash } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { newHuman, newMember, newOrganization } from '../../examples/people.ts'
import { expectAccessible, openConsole } from './console-page.ts'

const { url } = inject('roster')
let browser: Browser
let organization: string
let owner: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  if (withoutChromium) return
  organization = await newOrganization()
  owner = await newMember(organization, ['ORG_OWNER'])
  browser = await openChromium()
})
afterAll(() => browser?.close())

test('the shell is never stored, and nothing in it runs but files of its origin and its own lines', async () => {
  const shell = await fetch(`${url}/ui/console/o/any/people?q=a`)
  expect(shell.status).toBe(200)
  expect(Object.fromEntries(shell.headers)).toMatchObject({
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  })
  const policy = shell.headers.get('content-security-policy')!
  for (const rule of [
    "default-src 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ])
    expect(policy.split('; ')).toContain(rule)
  const html = await shell.text()
  const own = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text]) => hash('sha256', text!, 'base64'))
  expect(policy.split('; ')).toContain(["script-src 'self'", ...own.map((text) => `'sha256-${text}'`)].join(' '))
  expect(own).toHaveLength(1)
  expect(html).not.toMatch(/<style|style=|<script(?!>|[^>]* src=)| on\w+=/)
  const [, script] = /<script[^>]* src="([^"]+)"/.exec(html)!
  for (const encoding of ['br', 'gzip']) {
    const file = await fetch(url + script, { headers: { 'accept-encoding': encoding } })
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': encoding,
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Origin, Accept-Encoding',
    })
  }
  const plain = await fetch(url + script, { headers: { 'accept-encoding': 'identity' } })
  expect(plain.headers.get('content-encoding')).toBe(null)
  expect((await fetch(`${url}/ui/console/assets/none.12345678.js`)).status).toBe(404)
})

describe.skipIf(withoutChromium)(`the shell of the console in Chromium${withoutChromium}`, () => {
  test('an administrator who opens the address of Roster lands on the overview of the own organization', async () => {
    const { page } = await openConsole(browser, owner, '/people')
    for (const path of ['/', '/ui/console', `/ui/console/o/${organization}`]) {
      await page.goto(url + path)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      expect(page.url()).toBe(`${url}/ui/console/o/${organization}`)
    }
  })

  test('the file of the first view comes without waiting for the frame, and the view asks once', async () => {
    const { page, calls, goto } = await openConsole(browser, owner, '/people')
    const view = page.waitForRequest('**/ui/console/assets/people.*.js')
    await page.route('**/ui/console/assets/frame.*.js', async (route) => {
      await view
      await route.continue()
    })
    calls.length = 0
    await goto('/people')
    await page.locator('tbody:not(.skeleton) tr').first().waitFor()
    expect(calls.filter((name) => name === 'SearchUsers')).toHaveLength(1)
  })

  test('a view whose file comes late asks once', async () => {
    const { page, calls, goto } = await openConsole(browser, owner, '/people')
    await page.route('**/ui/console/assets/people.*.js', async (route) => {
      // The frame has been drawn without it.
      await page.locator('#navigation a').first().waitFor()
      await route.continue()
    })
    calls.length = 0
    await goto('/people')
    await page.locator('tbody:not(.skeleton) tr').first().waitFor()
    expect(calls.filter((name) => name === 'SearchUsers')).toHaveLength(1)
  })

  test('everything works by the keyboard alone', async () => {
    const displayName = 'Katherine Johnson'
    const ada = await newHuman(organization, { profile: { firstName: 'Katherine', lastName: 'Johnson', displayName } })
    const { page, faults } = await openConsole(browser, owner, '/people')
    await page.getByText('Katherine Johnson').waitFor()
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('j')
    expect(await focused()).toContain('Katherine Johnson')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Katherine Johnson' }).waitFor()
    expect(page.url()).toContain(ada.userId)
    await page.keyboard.press('g')
    await page.keyboard.press('p')
    await page.getByRole('heading', { name: 'People' }).waitFor()
    // A reader of the screen hears the new view.
    await expect.poll(focused).toBe('People')
    await page.keyboard.press('n')
    await page.getByRole('heading', { name: 'Add a person' }).waitFor()
    // Letters in a field are letters.
    await page.getByLabel('First name').focus()
    await page.keyboard.type('gp/n?')
    expect(await page.getByLabel('First name').inputValue()).toBe('gp/n?')
    expect(faults).toEqual([])
  })

  test('the search finds a person and goes there, by Ctrl K and by the slash', async () => {
    await newHuman(organization, { profile: { firstName: 'Hedy', lastName: 'Lamarr', displayName: 'Hedy Lamarr' } })
    const { page, faults } = await openConsole(browser, owner, '/people')
    // What is typed before it has the focus goes elsewhere.
    const opened = () => page.locator('[role=combobox]:focus').waitFor()
    for (const key of ['/', 'Control+k']) {
      await page.getByRole('heading', { level: 1, name: 'People' }).waitFor()
      await page.keyboard.press(key)
      await page.getByRole('combobox', { name: 'Find' }).waitFor()
      await opened()
      await expectAccessible(page)
      await page.keyboard.type('lamarr')
      const options = page.getByRole('listbox').getByRole('option')
      await expect.poll(() => options.allTextContents()).toEqual([expect.stringContaining('Hedy Lamarr')])
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Hedy Lamarr' }).waitFor()
      await page.goBack()
    }
    // Enter picks what was typed, and not what was shown before.
    await page.getByRole('heading', { level: 1, name: 'People' }).waitFor()
    await page.keyboard.press('/')
    await opened()
    await page.keyboard.type('lamarr')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Hedy Lamarr' }).waitFor()
    // Esc closes the list, then the dialog.
    await page.keyboard.press('/')
    await opened()
    await page.keyboard.type('h')
    await page.getByRole('listbox').getByRole('option').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('listbox').waitFor({ state: 'hidden' })
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('the help shows the keys, and switches the letters off', async () => {
    const { page } = await openConsole(browser, owner, '/people')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await expectAccessible(page)
    await page.getByLabel('Letters act as keys').uncheck()
    await page.keyboard.press('Escape')
    await page.keyboard.press('n')
    await page.keyboard.press('j')
    expect(await page.evaluate<string>('document.activeElement.tagName')).toBe('BODY')
    await page.getByRole('heading', { name: 'People' }).waitFor()
  })

  test('at 360 pixels the menu opens and closes', async () => {
    const options = { viewport: { width: 360, height: 700 } }
    const { page } = await openConsole(browser, owner, '/people/new', options)
    const menu = page.getByRole('navigation', { name: 'Views' })
    await menu.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Menu' }).click()
    await expectAccessible(page)
    await menu.getByRole('link', { name: 'People' }).click()
    await page.getByRole('heading', { name: 'People' }).waitFor()
    await menu.waitFor({ state: 'hidden' })
  })

  test('a file that a newer release has taken away loads the page again, once', async () => {
    const { userId } = await newHuman(organization, { profile: { firstName: 'A', lastName: 'B', displayName: 'A B' } })
    const { page } = await openConsole(browser, owner, '/people')
    let asked = 0
    await page.route('**/ui/console/assets/person.*.js', (route) => {
      asked += 1
      return asked === 1 ? route.fulfill({ status: 404 }) : route.continue()
    })
    await page.locator(`a[href$="${userId}"]`).click()
    await page.getByRole('heading', { level: 1, name: 'A B' }).waitFor()
    expect(asked).toBe(2)
    await page.unroute('**/ui/console/assets/person.*.js')
    await page.route('**/ui/console/assets/person.*.js', (route) => route.fulfill({ status: 404 }))
    let loads = 0
    page.on('load', () => (loads += 1))
    await page.reload()
    await page.waitForLoadState('networkidle')
    expect(loads).toBe(1)
  })

  test('nothing that somebody has stored becomes markup', async () => {
    const evil = `"><img src=x onerror=alert(1)><script>alert(1)</script>`
    const { userId } = await newHuman(organization, {
      userName: `${evil}${Date.now()}`,
      profile: { firstName: evil, lastName: evil, displayName: evil, nickName: evil },
    })
    const { page, faults, goto } = await openConsole(browser, owner, `/people?q=${encodeURIComponent('<img src=x>')}`)
    for (const path of [
      '/people',
      ...['', '/access', '/sign-in', '/history'].map((tab) => `/people/${userId}${tab}`),
    ]) {
      await goto(path)
      await page.getByText('onerror=alert').first().waitFor()
      expect(await page.locator('main img, main script').count(), path).toBe(0)
    }
    await page.keyboard.press('/')
    await page.locator('[role=combobox]:focus').fill('onerror')
    await page.getByRole('listbox').getByRole('option').filter({ hasText: 'onerror' }).waitFor()
    expect(faults).toEqual([])
  })

  test('an ended sign-in keeps the form, and another person is told who they are now', async () => {
    const { userId } = await newHuman(organization)
    const { page } = await openConsole(browser, owner, `/people/${userId}`)
    await page.getByLabel('Nickname').fill('kept')
    let answer: object = refusal('unauthenticated', 'CONSOLE_SESSION_ENDED')
    await page.route('**/UpdateHumanProfile', (route) =>
      route.fulfill({ status: 'code' in answer && answer.code === 'aborted' ? 409 : 401, json: answer }),
    )
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog', { name: 'Your sign-in has ended' }).waitFor()
    expect(await page.getByRole('link', { name: 'Sign in again' }).getAttribute('href')).toContain(
      '/ui/console/sign-in?',
    )
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await page.getByLabel('Nickname').inputValue()).toBe('kept')
    answer = refusal('aborted', 'CONSOLE_SESSION_OTHER')
    const bob = { session: 'other', userId: 'bob', displayName: 'Bob', organizationId: organization, hasRole: true }
    await page.route('**/ui/console/session', (route) => route.fulfill({ json: bob }))
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog', { name: 'You are now Bob' }).waitFor()
    await expectAccessible(page)
  })

  test('a danger without a fresh factor is done once the person has signed in again in another tab', async () => {
    const { userId } = await newHuman(organization, { profile: { firstName: 'A', lastName: 'B', displayName: 'A B' } })
    const { page, calls } = await openConsole(browser, owner, `/people/${userId}`)
    await page.route('**/LockUser', (route) => {
      if (calls.filter((name) => name === 'LockUser').length > 1) return route.fallback()
      return route.fulfill({ status: 400, json: refusal('failed_precondition', 'FACTOR_NOT_FRESH') })
    })
    await page.getByRole('button', { name: 'Lock' }).click()
    await page.getByRole('dialog', { name: 'Lock A B?' }).getByRole('button', { name: 'Lock' }).click()
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor()
    // The page that the other tab comes back to.
    const other = await page.context().newPage()
    await other.goto(`${url}/ui/console/signed-in`)
    await other.getByText('You can close this tab').waitFor()
    await page.getByRole('button', { name: 'Unlock' }).waitFor()
    expect(calls.filter((name) => name === 'LockUser')).toHaveLength(2)
  })
})

function refusal(code: string, reason: string) {
  const type = 'google.rpc.ErrorInfo'
  return { code, message: 'Refused.', details: [{ type, value: '', debug: { reason, metadata: {} } }] }
}
