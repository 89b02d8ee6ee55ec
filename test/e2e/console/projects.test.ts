import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { newApplication } from '../../examples/applications.ts'
import { admin, newHuman, newMember, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'
import { expectAccessible, openConsole } from './console-page.ts'

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

describe.skipIf(withoutChromium)(`projects in Chromium${withoutChromium}`, () => {
  test('a project is added, its roles are pasted and one is removed, and then the project itself', async () => {
    const { page, faults } = await openConsole(browser, owner, '/projects')
    await page.getByText('There is no project yet.').waitFor()
    await expectAccessible(page)
    await page.keyboard.press('n')
    await page.getByLabel('Name').fill('Billing')
    await page.getByLabel('Only people who have a role in it').check()
    await expectAccessible(page)
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor()
    await page.getByRole('button', { name: 'As a call' }).click()
    const asCall = page.getByRole('dialog', { name: 'As a call' })
    await asCall.getByText('resource "zitadel_project" "billing" {').waitFor()
    await expectAccessible(page)
    await asCall.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('link', { name: 'Roles' }).click()
    await page.getByRole('button', { name: 'Paste several' }).click()
    await page.getByLabel('One role a line').fill('reader\napprover;Approver;Money\n.')
    await page.getByRole('button', { name: 'Add 3 roles' }).click()
    await page.getByRole('alert').getByText('Line 3: Key').waitFor()
    await page.getByLabel('One role a line').fill('reader\napprover;Approver;Money')
    await page.getByRole('button', { name: 'Add 2 roles' }).click()
    await page.getByRole('row', { name: 'approver' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Edit: approver' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Approves invoices')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: 'Approves invoices' }).waitFor()
    await page.getByRole('button', { name: 'Remove: reader' }).click()
    await page.getByLabel('Type “reader” to go on.').fill('reader')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('row', { name: 'reader' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Remove …' }).click()
    await page.getByLabel('Type “Billing” to go on.').fill('Billing')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('There is no project yet.').waitFor()
    expect(faults).toEqual([])
  })

  test('a tick gives a role and takes it, and takes nothing that somebody else gave meanwhile', async () => {
    const projectId = await newProject(organization, ['reader', 'approver'])
    const profile = { firstName: 'Grace', lastName: 'Hopper', displayName: 'Grace Hopper' }
    const { userId } = await newHuman(organization, { profile })
    const { page, faults, calls } = await openConsole(browser, owner, `/projects/${projectId}/access`)
    await page.getByText('No person of this organization has a role in it yet.').waitFor()
    await page.getByRole('combobox', { name: 'Give a role to' }).fill('hopper')
    await page.getByRole('option', { name: 'Grace Hopper' }).click()
    await page.getByLabel('Grace Hopper: reader').check()
    await page.getByText('Grace Hopper has reader now.').waitFor()
    await expectAccessible(page)
    const roles = async () => ok(await call('ListUserRoles', { projectId, userId }, admin(organization))).roleKeys
    expect(await roles()).toEqual(['reader'])
    const { userGrants } = ok(await call('SearchUserGrants', { projectId, userId }, admin(organization)))
    const grant = { userId, grantId: userGrants[0].id }
    ok(await call('UpdateUserGrant', { ...grant, roleKeys: ['reader', 'approver'] }, admin(organization)))
    // The page still shows what it read.
    calls.length = 0
    await page.getByLabel('Grace Hopper: reader').click()
    await page.getByText('This was changed meanwhile.').waitFor()
    expect(await roles()).toEqual(['reader', 'approver'])
    await expect.poll(() => page.getByLabel('Grace Hopper: approver').isChecked()).toBe(true)
    await page.getByLabel('Grace Hopper: approver').uncheck()
    await page.getByText('Grace Hopper no longer has approver.').waitFor()
    await page.getByLabel('Grace Hopper: reader').uncheck()
    await page.getByText('Grace Hopper no longer has reader.').waitFor()
    expect(await roles()).toEqual(undefined)
    // The row stays, and a tick gives it back.
    await page.getByLabel('Grace Hopper: reader').check()
    await page.getByText('Grace Hopper has reader now.').waitFor()
    expect(faults).toEqual([])
  })

  test('a colleague becomes a member, with other roles, and leaves; an organization gets roles, and loses the project', async () => {
    const projectId = await newProject(organization, ['reader', 'approver'])
    const profile = { firstName: 'Alan', lastName: 'Turing', displayName: 'Alan Turing' }
    const { userId } = await newHuman(organization, { profile })
    const { page, faults, goto } = await openConsole(browser, owner, `/projects/${projectId}/members`)
    await page.getByRole('button', { name: 'Add a member' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox').fill('turing')
    await dialog.getByRole('option', { name: 'Alan Turing' }).click()
    await dialog.getByLabel('Sees the project').check()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Alan Turing is a member now.').waitFor()
    await page.getByRole('button', { name: 'Change: Alan Turing' }).click()
    await dialog.getByLabel('Owner of the project').check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The roles of Alan Turing are changed.').waitFor()
    const { members } = ok(await call('SearchProjectMembers', { projectId }, admin(organization)))
    expect(members).toMatchObject([{ userId, roles: ['PROJECT_OWNER_VIEWER', 'PROJECT_OWNER'] }])
    await page.getByRole('button', { name: 'Remove: Alan Turing' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Only owners of the organization').waitFor()

    const partner = await newOrganization()
    await goto(`/projects/${projectId}/granted`)
    await page.getByRole('button', { name: 'Grant to an organization' }).click()
    await dialog.getByLabel('Id of the organization').fill('nobody')
    await dialog.getByLabel('reader').check()
    await dialog.getByRole('button', { name: 'Grant to an organization' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Id of the organization').fill(partner)
    await dialog.getByRole('button', { name: 'Grant to an organization' }).click()
    await page.getByText('Granted.').waitFor()
    // Whoever has a role in this organization alone does not read the name of another one.
    await page.getByRole('button', { name: `Suspend: ${partner}` }).click()
    await page.getByRole('button', { name: `Resume: ${partner}` }).click()
    await page.getByRole('button', { name: `Remove: ${partner}` }).click()
    await page.getByLabel(`Type “${partner}” to go on.`).fill(partner)
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No other organization may give roles').waitFor()
    expect(faults).toEqual([])
  })

  test('whoever may see a project alone finds nothing to change in it', async () => {
    const projectId = await newProject(organization, ['reader'])
    const { appId } = await newApplication(organization, projectId)
    const viewer = await newMember(organization, [])
    const roles = ['PROJECT_OWNER_VIEWER']
    ok(await call('AddProjectMember', { projectId, userId: viewer.userId, roles }, admin(organization)))
    const { page, faults, goto } = await openConsole(browser, viewer, '')
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Projects' }).click()
    await page.getByRole('row').filter({ hasText: 'Sees the project' }).getByRole('link').click()
    await page.waitForURL(`**/projects/${projectId}`)
    for (const tab of ['', '/roles', '/access', '/granted', '/members', '/history', '/settings']) {
      await goto(`/projects/${projectId}${tab}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      for (const name of [/^Add/, /^Remove/, /^Paste/, /^Grant to an/, /^Change/])
        expect(await page.locator('main').getByRole('button', { name }).count(), `${tab} ${name}`).toBe(0)
      if (tab === '/history') await page.getByText('Role added').waitFor()
    }
    expect(await page.getByLabel('Name').isDisabled()).toBe(true)
    await goto(`/projects/${projectId}/applications/${appId}`)
    await page.getByText('Where people are sent after signing in').waitFor()
    expect(await page.getByLabel('Redirect URIs, 1').isDisabled()).toBe(true)
    await goto(`/projects/${projectId}/applications/${appId}/history`)
    await page
      .getByRole('listitem')
      .filter({ hasText: /^Added/ })
      .first()
      .waitFor()
    expect(faults).toEqual([])
  })

  test.each(['', '/roles', '/access', '/granted', '/members', '/settings'])(
    'the tab %s is accessible, fits 360 pixels, and shows stored text as text',
    async (tab) => {
      const evil = '<img src=x onerror=alert(1)>'
      const projectId = ok(await call('AddProject', { name: evil }, admin(organization))).id
      ok(await call('AddProjectRole', { projectId, roleKey: 'reader', displayName: evil }, admin(organization)))
      ok(await call('AddProjectRole', { projectId, roleKey: evil, displayName: evil }, admin(organization)))
      await newApplication(organization, projectId, { name: evil })
      const human = { profile: { firstName: evil, lastName: evil, displayName: evil } }
      const { userId } = await newHuman(organization, human)
      ok(await call('AddUserGrant', { projectId, userId, roleKeys: ['reader'] }, admin(organization)))
      const member = { projectId, userId, roles: ['PROJECT_OWNER'] }
      ok(await call('AddProjectMember', member, admin(organization)))
      const partner = await newOrganization(`${evil}${Date.now()}`)
      const grant = { projectId, grantedOrgId: partner, roleKeys: ['reader'] }
      ok(await call('AddProjectGrant', grant, admin(organization)))
      const options = { viewport: { width: 360, height: 800 }, colorScheme: 'dark' as const }
      const { page, faults } = await openConsole(browser, owner, `/projects/${projectId}${tab}`, options)
      await page.getByRole('heading', { level: 1, name: evil }).waitFor()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      await page.getByRole('button').or(page.getByLabel('Name')).first().waitFor()
      await expectAccessible(page)
      expect(await page.locator('main img').count()).toBe(0)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
      expect(faults).toEqual([])
    },
  )
})
