import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { newApplication } from '../../examples/applications.ts'
import { admin, newMember, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'
import { expectAccessible, openConsole } from './console-page.ts'

let browser: Browser
let organization: string
let projectId: string
let owner: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  if (withoutChromium) return
  organization = await newOrganization()
  owner = await newMember(organization, ['ORG_OWNER'])
  projectId = await newProject(organization)
  browser = await openChromium()
})
afterAll(() => browser?.close())

const first = 'https://shop.example.com/callback'
const second = 'http://localhost:3000/callback'

async function open(tab = '') {
  const more = { name: 'Shop', redirectUris: [first], backChannelLogoutUri: 'https://shop.example.com/out' }
  const application = await newApplication(organization, projectId, more)
  const path = `/projects/${projectId}/applications/${application.appId}${tab}`
  const shown = await openConsole(browser, owner, path)
  await shown.page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor()
  return { ...shown, ...application }
}

const read = async (appId: string) =>
  ok(await call('GetApplication', { projectId, appId }, admin(organization))).application

describe.skipIf(withoutChromium)(`an application in Chromium${withoutChromium}`, () => {
  test('a redirect URI is added, and nothing else of the application changes', async () => {
    const { page, appId, faults } = await open()
    const before = await read(appId)
    await page.getByLabel('Redirect URIs, 2').fill(second)
    const sent = page.waitForRequest('**/PatchApplication')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    expect((await sent).postDataJSON()).toEqual({
      projectId,
      appId,
      oidcConfig: { redirectUris: [first, second] },
      updateMask: 'oidcConfig.redirectUris',
    })
    expect((await sent).headers()['if-match']).toBe('"1"')
    // The API's own sentence, at the address that it is about.
    await page.getByText(/Redirect URIs must .*https/).waitFor()
    await expectAccessible(page)
    expect(await page.evaluate('document.activeElement.name')).toBe('oidcConfig.redirectUris[1]')
    await page.getByLabel('For development').check()
    await page.keyboard.press('Control+s')
    await page.getByRole('status').getByText('Saved.').waitFor()
    const { oidcConfig } = await read(appId)
    const expected = { ...before.oidcConfig, redirectUris: [first, second], devMode: true }
    expect(oidcConfig).toEqual({ ...expected, effective: { ...before.oidcConfig.effective, devMode: true } })
    expect(faults).toEqual([])
  })

  test('the lines are those of the framework that the addresses look like, without the secret', async () => {
    const redirectUris = ['http://localhost:8000/oidc/callback/']
    const application = await newApplication(organization, projectId, { redirectUris, devMode: true })
    const path = `/projects/${projectId}/applications/${application.appId}`
    const { page } = await openConsole(browser, owner, path)
    await page.getByRole('region', { name: 'shop.py' }).waitFor()
    const env = page.getByRole('region', { name: '.env', exact: true })
    expect(await env.locator('pre').textContent()).toContain(`CLIENT_ID=${application.clientId}\nCLIENT_SECRET=…\n`)
    await page.getByLabel('Framework').selectOption('Spring Boot')
    await page.getByRole('region', { name: 'src/main/resources/application.yml' }).waitFor()
    await expectAccessible(page)
  })

  test('what somebody else has saved meanwhile is taken over, and mine is saved beside it', async () => {
    const { page, appId } = await open('/settings')
    await page.getByLabel('Lifetime of access tokens, in seconds').fill('300')
    ok(await call('PatchApplication', { projectId, appId, oidcConfig: { firstParty: true } }, admin(organization)))
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Changed by another person meanwhile').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('status').getByText('Saved.').waitFor()
    expect((await read(appId)).oidcConfig).toMatchObject({ firstParty: true, accessTokenLifetime: '300s' })
  })

  test('every setting that is emptied is empty afterwards', async () => {
    const { page, appId } = await open('/settings')
    await page.getByLabel('Back-channel logout').fill('')
    await page.getByRole('button', { name: `Remove: ${first}` }).click()
    await page.getByLabel('Refresh tokens').check()
    await page.getByLabel('Clock skew').fill('two')
    await page.keyboard.press('Control+s')
    await page.getByText('must be a number of seconds').waitFor()
    await page.getByLabel('Clock skew').fill('2')
    await page.keyboard.press('Control+s')
    await page.getByRole('status').getByText('Saved.').waitFor()
    const { oidcConfig } = await read(appId)
    expect(oidcConfig.redirectUris).toBe(undefined)
    expect(oidcConfig.backChannelLogoutUri).toBe(undefined)
    expect(oidcConfig).toMatchObject({
      clockSkew: '2s',
      grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
    })
    await expectAccessible(page)
  })

  test('a second secret is made, shown once, ends at a day, and the first one is removed', async () => {
    const { page, appId, faults } = await open('/secrets')
    await page.getByRole('button', { name: 'Add a secret' }).click()
    await page.getByLabel('Ends on').fill('2001-01-01')
    await page.getByText('must be in the future').waitFor()
    await page.getByLabel('Ends on').fill('2099-12-31')
    await page.getByRole('dialog').getByRole('button', { name: 'Add a secret' }).click()
    const shown = page.getByRole('dialog', { name: 'The new secret' })
    const secret = (await shown.locator('pre').textContent())!
    expect(secret.length).toBeGreaterThan(20)
    await expectAccessible(page)
    await shown.getByRole('button', { name: 'I have it' }).click()
    expect(await page.getByText(secret).count()).toBe(0)
    // Two at a time.
    await expect.poll(() => page.getByRole('button', { name: 'Add a secret' }).isDisabled()).toBe(true)
    await page
      .getByRole('button', { name: /^Remove: / })
      .first()
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('The secret is removed.').waitFor()
    const { secrets } = ok(await call('ListClientSecrets', { projectId, appId }, admin(organization)))
    expect(secrets).toHaveLength(1)
    expect(secrets[0].expirationDate).toMatch(/^(2099-12-31|2100-01-01)T/)
    expect(faults).toEqual([])
  })

  test('an application that signs gets a key, and one without a secret says so', async () => {
    const { page, appId } = await open('/secrets')
    const settings = { authMethodType: 'OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT' }
    ok(await call('PatchApplication', { projectId, appId, oidcConfig: settings }, admin(organization)))
    await page.reload()
    await page.getByRole('button', { name: 'Add a key' }).click()
    await page.getByLabel('My own public key').fill('nonsense')
    await page.getByRole('dialog').getByRole('button', { name: 'Add a key' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await page.getByLabel('My own public key').fill('')
    await page.getByRole('dialog').getByRole('button', { name: 'Add a key' }).click()
    const shown = page.getByRole('dialog', { name: 'The private key' })
    expect(JSON.parse((await shown.locator('pre').textContent())!)).toMatchObject({ type: 'application', appId })
    await shown.getByRole('button', { name: 'I have it' }).click()
    await page.getByText('RS256').waitFor()
    const none = { appType: 'OIDC_APP_TYPE_USER_AGENT', authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE' }
    ok(await call('PatchApplication', { projectId, appId, oidcConfig: none }, admin(organization)))
    await page.reload()
    await page.getByText('This is a public client.').waitFor()
  })

  test('its history says what was done by whom, the newest first', async () => {
    const { page, appId, goto } = await open()
    await page.getByLabel('Redirect URIs, 2').fill('https://shop.example.com/other')
    await page.keyboard.press('Control+s')
    await page.getByRole('status').getByText('Saved.').waitFor()
    await goto(`/projects/${projectId}/applications/${appId}/history`)
    const events = page.getByRole('listitem')
    await expect.poll(() => events.count()).toBe(2)
    await expect.poll(() => events.first().textContent()).toMatch(/^Settings changed.*by Ada L\./)
    expect(await events.last().textContent()).toMatch(/^Added/)
    await expectAccessible(page)
  })

  test('an application is deactivated, activated and removed', async () => {
    const { page, appId } = await open()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Deactivate', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate', exact: true }).click()
    await page.getByText('The application is deactivated, so sign-in to it is off.').waitFor()
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await page.getByText('People of any organization').waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Remove …' }).click()
    await page.getByLabel('Type “Shop” to go on.').fill('Shop')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.waitForURL(`**/projects/${projectId}`)
    expect((await call('GetApplication', { projectId, appId }, admin(organization))).error).toMatchObject({
      details: [{ reason: 'APPLICATION_NOT_FOUND' }],
    })
  })

  test.each(['', '/settings', '/secrets'])('the tab %s is accessible, and fits 360 pixels', async (tab) => {
    const evil = '<img src=x onerror=alert(1)>'
    const { appId } = await newApplication(organization, projectId, { name: evil })
    const options = { viewport: { width: 360, height: 800 }, colorScheme: 'dark' as const }
    const path = `/projects/${projectId}/applications/${appId}${tab}`
    const { page, faults } = await openConsole(browser, owner, path, options)
    await page.getByRole('heading', { level: 1, name: evil }).waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    await expectAccessible(page)
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    expect(faults).toEqual([])
  })
})
