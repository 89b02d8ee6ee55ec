import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { call } from '../clients/encodings.ts'
import { callGrpc } from '../clients/grpc.ts'
import {
  admin,
  newHuman,
  newMachine,
  newMember,
  newOrganization,
  ok,
  unique,
  uniqueEmail,
} from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newWebApplication } from '../../examples/sign-in.ts'
import { expectAccessible, openConsole } from './console-page.ts'

const { url } = inject('roster')
const evil = `"><img src=x onerror=alert(1)>`
let browser: Browser
let organization: string
let owner: Awaited<ReturnType<typeof newMember>>
let viewer: typeof owner

beforeAll(async () => {
  if (withoutChromium) return
  organization = await newOrganization()
  owner = await newMember(organization, ['ORG_OWNER'])
  viewer = await newMember(organization, ['ORG_OWNER_VIEWER'])
  browser = await openChromium()
})
afterAll(() => browser?.close())

const rowsOf = (page: Page, name: string) => page.getByRole('table', { name }).locator('tbody tr')
const said = (page: Page, text: string | RegExp) => page.getByRole('status').getByText(text).waitFor()

/** Counts presses of the mouse: what a task costs. */
function clicking() {
  let clicks = 0
  const click = (what: ReturnType<Page['getByRole']>) => {
    clicks += 1
    return what.click()
  }
  return { click, count: () => clicks }
}

describe.skipIf(withoutChromium)(`an organization in Chromium${withoutChromium}`, () => {
  test('a second administrator is made in six clicks, changed and taken back', async () => {
    await newHuman(organization, { profile: { firstName: 'Grace', lastName: 'Hopper', displayName: 'Grace Hopper' } })
    const { page, faults } = await openConsole(browser, owner, '/people')
    const { click, count } = clicking()
    await click(page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Organization' }))
    await click(page.getByRole('link', { name: 'Members' }))
    await click(page.getByRole('button', { name: 'Add a member' }))
    await page.getByRole('combobox', { name: 'Person' }).fill('hopper')
    await click(page.getByRole('option', { name: 'Grace Hopper' }))
    await click(page.getByLabel('Owner', { exact: true }))
    await expectAccessible(page)
    await click(page.getByRole('button', { name: 'Add', exact: true }))
    await said(page, 'Grace Hopper is a member now.')
    expect(count()).toBe(6)
    const row = rowsOf(page, 'Members').filter({ hasText: 'Grace Hopper' })
    expect(await row.textContent()).toContain('Owner')
    await page.getByRole('button', { name: 'Change the roles of Grace Hopper' }).click()
    await page.getByLabel('Owner', { exact: true }).uncheck()
    await page.getByLabel('Viewer: reads everything').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await said(page, 'The roles of Grace Hopper are changed.')
    await expect.poll(() => row.textContent()).toContain('Viewer')
    await page.getByRole('button', { name: 'Remove the roles of Grace Hopper' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Take the roles' }).click()
    await row.waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('a viewer sees members, invitations and machines, and nothing that changes them', async () => {
    const { page, goto } = await openConsole(browser, viewer, '/organization/members')
    await rowsOf(page, 'Members').first().waitFor()
    for (const path of ['/organization/members', '/organization', '/invitations', '/machines']) {
      await goto(path)
      await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Machines' }).waitFor()
      const names = await page.locator('main button:visible, main a.button').allTextContents()
      expect(
        names.filter((name) => /Add|Change|Remove|Invite|Deactivate/.test(name)),
        path,
      ).toEqual([])
    }
    // Views of the instance are neither in the menu nor behind their address.
    expect(await page.getByRole('link', { name: 'Instance members' }).count()).toBe(0)
    await page.goto(`${url}/ui/console/instance/members`)
    await page.getByText('You lack the permission iam.member.read').waitFor()
  })

  test('one switches to the organizations in which one has a role, and deep links lead there', async () => {
    const [other, foreign] = [await newOrganization(), await newOrganization()]
    const [name, foreignName] = [unique('Switched'), unique('Switched')]
    ok(await call('UpdateOrganization', { name }, admin(other)))
    ok(await call('UpdateOrganization', { name: foreignName }, admin(foreign)))
    ok(await call('AddOrganizationMember', { userId: viewer.userId, roles: ['ORG_OWNER'] }, admin(other)))
    const { page, calls } = await openConsole(browser, viewer, '/people')
    await page.getByRole('button', { name: /^Organization: / }).click()
    await page.getByRole('combobox', { name: 'Organization' }).pressSequentially('switched')
    const options = page.getByRole('listbox').getByRole('option')
    await expect.poll(() => options.allTextContents()).toEqual([expect.stringContaining(name)])
    expect(calls).not.toContain('SearchOrganizations')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(page.url()).toBe(`${url}/ui/console/o/${other}`)
    await page.getByRole('button', { name: `Organization: ${name}` }).waitFor()
    await page.goto(`${url}/ui/console/o/${other}/organization`)
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await page.goto(`${url}/ui/console/o/${foreign}/organization`)
    await page.getByText('You lack the permission org.read').waitFor()
  })

  test('an owner of the instance makes an organization, renames, closes, opens and removes it', async () => {
    // Of the first organization: as long as all owners of the instance are, nobody deactivates it, as other tests try.
    const human = await newHuman('default', { password: unique('Password') })
    const { userId } = human
    ok(await call('AddInstanceMember', { userId, roles: ['IAM_OWNER'] }, admin()))
    onTestFinished(async () => void ok(await call('RemoveInstanceMember', { userId }, admin())))
    const { page, faults } = await openConsole(browser, human, '/people')
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Organizations' }).click()
    await page.getByRole('link', { name: 'Add an organization' }).click()
    const name = unique('Acme')
    await page.getByLabel('Name').fill(name)
    await page.getByRole('button', { name: 'Add an organization' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page
      .getByRole('navigation', { name: 'Views' })
      .getByRole('link', { name: 'Organization', exact: true })
      .click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await page.getByLabel('Name').fill(`${name} AG`)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: `${name} AG` }).waitFor()
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('button', { name: 'Reactivate' }).click()
    await said(page, 'is active again.')
    await page.getByRole('button', { name: 'Remove …' }).click()
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Remove …' })
    expect(await remove.isDisabled()).toBe(true)
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('textbox').fill(`${name} AG`)
    await remove.click()
    await said(page, 'is removed.')
    expect(page.url()).toBe(`${url}/ui/console/o/default`)
    await page.getByRole('link', { name: 'Instance members' }).click()
    await page.getByRole('heading', { name: 'Instance members' }).waitFor()
    await rowsOf(page, 'Members').filter({ hasText: 'Owner of the instance' }).first().waitFor()
    await expectAccessible(page)
    expect(faults).toEqual([])
  })

  test('the overview shows the next step, ticks it once it happened, and names owners without a second factor', async () => {
    const home = await newOrganization()
    const first = await newMember(home, ['ORG_OWNER'])
    const { page, goto } = await openConsole(browser, first, '')
    await page.getByRole('heading', { name: 'Invite a colleague' }).waitFor()
    await expectAccessible(page)
    // The sign-in to this page is one of the last day.
    await page.getByText('As a table').click()
    const numbers = page.getByRole('table', { name: 'Sign-ins, last 24 hours' }).locator('tbody tr')
    await expect.poll(() => numbers.count()).toBe(24)
    expect(Number(await numbers.first().locator('td').nth(1).textContent())).toBeGreaterThan(0)
    const need = page.getByRole('listitem').filter({ hasText: 'has no second factor' })
    // An organization that is so new has empty hours, and says so.
    await page.getByRole('img', { name: 'Sign-ins by hour' }).getByText('Nothing before').waitFor()
    await need.getByRole('link', { name: 'has no second factor' }).click()
    await page.getByRole('heading', { name: 'Factors' }).waitFor()
    expect(page.url()).toContain(`/people/${first.userId}/sign-in`)
    ok(await call('AddInvitation', { email: uniqueEmail(), returnLink: {} }, admin(home)))
    await goto('')
    await need.waitFor()
    await page.getByRole('heading', { name: 'Add your application' }).waitFor()
    await page.getByRole('img', { name: '2 of 4 steps are done' }).waitFor()
    const projectId = await newProject(home)
    const { appId } = await newWebApplication(home, projectId)
    const expirationDate = new Date(Date.now() + 12.5 * 86_400_000).toISOString()
    ok(await call('AddClientSecret', { projectId, appId, expirationDate }, admin(home)))
    const userId = await newMachine(home)
    ok(await call('UpdateMachine', { userId, name: evil }, admin(home)))
    ok(await call('AddPersonalAccessToken', { userId, expirationDate }, admin(home)))
    await goto('')
    await page.getByText(`The token of ${evil} expires in 12 days.`).waitFor()
    const secret = page.getByRole('listitem').filter({ hasText: /^The secret of .* expires in 12 days/ })
    expect(await secret.getByRole('link').getAttribute('href')).toContain(`/applications/${appId}/secrets`)
    await page.getByRole('heading', { name: 'See its first sign-in' }).waitFor()
    expect(await page.getByRole('link', { name: 'Watch' }).getAttribute('href')).toContain(`/applications/${appId}`)
  })

  test('many are invited by a pasted list: what is no address is marked, the others are in the list with roles', async () => {
    const { page, faults } = await openConsole(browser, owner, '/invitations')
    await page.getByText('No invitations yet.').waitFor()
    await page.getByRole('link', { name: 'Invite people' }).click()
    const [ada, grace] = [uniqueEmail(), uniqueEmail()]
    const emails = page.getByLabel('Email addresses')
    await emails.fill(`Ada <${ada}>, nobody\n${grace}`)
    await page.getByLabel('User manager').check()
    await page.getByRole('button', { name: 'Invite people' }).click()
    await page.getByText('Not an email address: nobody').waitFor()
    expect(await emails.getAttribute('aria-invalid')).toBe('true')
    await expectAccessible(page)
    await emails.fill(`Ada <${ada}>, ${grace}`)
    await page.getByRole('button', { name: 'Invite people' }).click()
    await said(page, '2 people are invited.')
    const row = rowsOf(page, 'Invitations').filter({ hasText: ada })
    await expect.poll(() => row.textContent()).toMatch(/pending.*User manager/)
    await expectAccessible(page)
    const menu = page.getByRole('button', { name: `What to do with the invitation of ${ada}` })
    await menu.click()
    await page.getByRole('button', { name: 'Get a new link' }).click()
    const shown = page.getByRole('dialog', { name: `A link for ${ada}` })
    expect(await shown.locator('pre').textContent()).toContain('/ui/invitation/')
    await expectAccessible(page)
    await shown.getByRole('button', { name: 'I have it' }).click()
    await expect.poll(() => row.textContent()).toContain('link handed over')
    await menu.click()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await expect.poll(() => row.textContent()).toContain('revoked')
    expect(faults).toEqual([])
  })

  test('a machine is added and gets a secret, which is shown once, and loses it', async () => {
    const { page, faults, goto } = await openConsole(browser, owner, '/machines')
    await page.getByText('There is no machine yet.').waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('Name', { exact: true }).fill(evil)
    await page.getByLabel('User name').fill(unique('robot'))
    await page.getByRole('button', { name: 'Add a machine' }).click()
    await page.getByRole('heading', { level: 1, name: evil }).waitFor()
    await page.getByRole('button', { name: 'New secret' }).click()
    await page.getByRole('dialog').getByLabel('Ends').selectOption('In 30 days')
    await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click()
    const shown = page.getByRole('dialog', { name: 'New secret' })
    await shown.getByRole('button', { name: 'I have it' }).waitFor()
    const [clientId = '', clientSecret = ''] = await shown.locator('pre').allTextContents()
    const token = { grantType: 'client_credentials', clientId, clientSecret, scope: 'openid' }
    ok(await callGrpc('IssueToken', token))
    await expectAccessible(page)
    await shown.getByRole('button', { name: 'I have it' }).click()
    await rowsOf(page, 'Client secrets').locator('.tag.warn').waitFor()
    expect(await page.content()).not.toContain(clientSecret)
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'New key' }).click()
    const file = await page.getByRole('dialog', { name: 'New key' }).locator('pre').textContent()
    expect(JSON.parse(file!)).toMatchObject({ type: 'serviceaccount', clientId })
    await page.getByRole('button', { name: 'I have it' }).click()
    await page
      .getByRole('table', { name: 'Client secrets' })
      .getByRole('button', { name: /^Remove/ })
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No secret.').waitFor()
    await expectAccessible(page)
    for (const tab of ['', '/settings', '/access', '/history']) {
      await goto(`/machines/${clientId}${tab}`)
      await page.getByRole('heading', { level: 1, name: evil }).waitFor()
      expect(await page.locator('main img').count(), tab).toBe(0)
    }
    await goto('/machines')
    await page.getByText('onerror=alert').first().waitFor()
    expect(faults).toEqual([])
  })

  test.each([
    { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
    { colorScheme: 'light', viewport: { width: 360, height: 800 } },
  ] as const)('every view is accessible and fits: $colorScheme, $viewport.width wide', async (options) => {
    const { page, goto } = await openConsole(browser, owner, '', options)
    for (const path of [
      '',
      '/invitations',
      '/invitations/new',
      '/machines',
      '/organization',
      '/organization/members',
    ]) {
      await goto(path)
      await expect.poll(() => page.locator('[aria-busy=true], .ghost').count()).toBe(0)
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(
        options.viewport.width,
      )
    }
  })
})
