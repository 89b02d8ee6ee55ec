import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { call } from '../clients/encodings.ts'
import type { ExampleApplication } from '../../examples/applications.ts'
import { type ExampleHuman, newHuman, newMember, newOrganization, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newCode, newWebApplication, openBrowser, redeem } from '../../examples/sign-in.ts'
import { expectAccessible, openConsole } from './console-page.ts'

let browser: Browser
let organization: string
let projectId: string
let owner: ExampleHuman
let ada: ExampleHuman
const markup = '<img src=x onerror=alert(1)>'

beforeAll(async () => {
  if (withoutChromium) return
  organization = await newOrganization()
  projectId = await newProject(organization)
  owner = await newMember(organization, ['ORG_OWNER'])
  const profile = { firstName: 'Ada', lastName: 'Byron', displayName: 'Ada Byron' }
  ada = await newHuman(organization, { profile, password: unique('Password') })
  browser = await openChromium()
})
afterAll(() => browser?.close())

const local = { redirect_uri: 'http://localhost:3001/callback' }
const newBilling = (name = 'Billing') => newWebApplication(organization, projectId, { name })
const at = ({ appId }: ExampleApplication, tab = '') => `/projects/${projectId}/applications/${appId}${tab}`

describe.skipIf(withoutChromium)(`the first sign-in in Chromium${withoutChromium}`, () => {
  test('is watched: a wrong redirect URI shows what came, a button registers it, and the steps are ticked', async () => {
    const billing = await newBilling()
    const { page, faults } = await openConsole(browser, owner, at(billing))
    const step = (name: string) => page.locator('.ticks li').filter({ hasText: name })
    await step('Request').filter({ hasText: 'not yet' }).waitFor()
    await openBrowser().visit(authorizePath(billing, local))
    await page.getByText('The address after the sign-in is not registered.').waitFor()
    const refusal = page.locator('.refusal')
    expect(await refusal.textContent()).toMatch(
      /Received redirect_uri.*http:\/\/localhost:3001\/callback.*Registered.*https:\/\/app/,
    )
    await expectAccessible(page)
    const german = await openConsole(browser, owner, at(billing, '/sign-ins'), { locale: 'de-DE' })
    await german.page.getByText('redirect_uri ist bei der Anwendung nicht eingetragen.').waitFor()
    expect(await german.page.locator('.refusal [lang=en]').count()).toBe(0)
    await german.page.context().close()
    const sent = page.waitForRequest('**/PatchApplication')
    await page.getByRole('button', { name: `Register ${local.redirect_uri}` }).click()
    const { redirectUris } = (await sent).postDataJSON().oidcConfig
    expect(redirectUris).toHaveLength(2)
    expect((await sent).headers()).toHaveProperty('if-match')
    await page.getByRole('status').getByText('Sign in once more.').waitFor()
    await page.getByRole('button', { name: `Register ${local.redirect_uri}` }).waitFor({ state: 'detached' })
    const code = await newCode(ada, billing, local)
    await step('Sign-in').filter({ hasText: 'arrived' }).waitFor()
    expect((await redeem(billing, code, local)).status).toBe(200)
    await step('Code redeemed').filter({ hasText: 'arrived' }).waitFor()
    await page.getByText('The application signs people in.').waitFor()
    // What was refused before is mended.
    expect(await refusal.count()).toBe(0)
    expect(await step('Refresh').textContent()).toContain('not yet')
    expect(faults).toEqual([])
  })

  test('has a checklist after two minutes without anything, and asks no more after ten', async () => {
    const { page, calls, goto } = await openConsole(browser, owner, '/people')
    await page.clock.install()
    await goto(at(await newBilling()))
    await page.getByText('not yet').first().waitFor()
    await page.clock.fastForward('02:00')
    await page.getByText('Nothing has arrived for two minutes.').waitFor()
    await expectAccessible(page)
    await page.clock.fastForward('08:01')
    await page.getByRole('button', { name: 'Watch again' }).waitFor()
    calls.length = 0
    await page.clock.fastForward('01:00')
    expect(calls).not.toContain('SearchApplicationArrivals')
    await page.getByRole('button', { name: 'Watch again' }).click()
    await page.getByText('Watching').waitFor()
    await page.clock.fastForward('00:05')
    await expect.poll(() => calls).toContain('SearchApplicationArrivals')
  })

  test('offers no button to whoever may not change the application', async () => {
    const billing = await newBilling()
    await openBrowser().visit(authorizePath(billing, local))
    const viewer = await newMember(organization, ['ORG_OWNER_VIEWER'])
    const { page } = await openConsole(browser, viewer, at(billing))
    await page.locator('.refusal').waitFor()
    expect(await page.getByRole('button', { name: 'Register' }).count()).toBe(0)
  })
})

describe.skipIf(withoutChromium)(`sign-ins in Chromium${withoutChromium}`, () => {
  test('of the organization come live: who, to what, from where, with what; and failures by hour', async () => {
    const billing = await newBilling('Ledger')
    const { page, faults, goto } = await openConsole(browser, owner, '/sign-ins')
    const rows = page.getByRole('table', { name: 'Sign-ins' }).locator('tbody tr')
    await rows.filter({ hasText: 'Console' }).first().waitFor()
    await newCode(ada, billing)
    await rows.filter({ hasText: 'Ledger' }).waitFor({ timeout: 15_000 })
    expect(await rows.first().textContent()).toMatch(/Ada Byron.*Ledger.*Password.*(now|sec)/)
    const asOf = page.getByText(/^As of .*\d:\d\d:\d\d/)
    const before = await asOf.textContent()
    await expect.poll(() => asOf.textContent(), { timeout: 15_000 }).not.toBe(before)
    await expectAccessible(page)
    await call('CreateSession', { loginName: ada.userName, password: 'wrong' })
    await page.getByLabel('Show').selectOption('failed')
    await page.getByRole('row').filter({ hasText: 'Wrong password' }).waitFor({ timeout: 15_000 })
    await page.getByRole('row').filter({ hasText: 'Wrong password' }).getByRole('link', { name: 'Explain' }).click()
    await page.getByRole('heading', { name: 'Explain' }).waitFor()
    await goto(at(billing, '/sign-ins'))
    await rows.filter({ hasText: 'Ada Byron' }).waitFor()
    expect(await rows.count()).toBe(1)
    await page.getByText('No request was refused').waitFor()
    expect(faults).toEqual([])
  })

  test('and refusals show stored markup as text', async () => {
    const billing = await newBilling(markup)
    const profile = { firstName: 'M', lastName: 'M', displayName: markup }
    const person = await newHuman(organization, { profile, password: unique('Password') })
    await newCode(person, billing)
    await openBrowser().visit(
      authorizePath(billing, { redirect_uri: `https://x.example.com/"><script>alert(1)</script>` }),
    )
    const { page, faults, goto } = await openConsole(browser, owner, '/sign-ins', {
      viewport: { width: 360, height: 800 },
    })
    await page.getByText(markup).first().waitFor()
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    await goto(at(billing, '/sign-ins'))
    await page.getByText('<script>alert(1)</script>').first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    expect(faults).toEqual([])
  })
})
