import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { call } from '../clients/encodings.ts'
import { admin, getUser, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newWebApplication } from '../../examples/sign-in.ts'
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

const profile = { firstName: 'Grace', lastName: 'Hopper', displayName: 'Grace Hopper' }

async function open(more = '') {
  const human = await newHuman(organization, { profile })
  const shown = await openConsole(browser, owner, `/people/${human.userId}${more}`)
  await shown.page.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
  return { ...shown, ...human }
}

describe.skipIf(withoutChromium)(`a person in Chromium${withoutChromium}`, () => {
  test('only what was changed is sent, and shown as a call', async () => {
    const { page, userId, faults } = await open()
    const sent = page.waitForRequest('**/UpdateHumanProfile')
    await page.getByLabel('Nickname').fill('Amazing')
    await page.getByText('1 change').waitFor()
    await page.keyboard.press('Control+s')
    expect((await sent).postDataJSON()).toEqual({ userId, nickName: 'Amazing' })
    expect((await sent).headers()).toMatchObject({ 'if-match': '"1"', 'x-service-orgid': organization })
    await page.getByRole('status').getByText('Saved.').waitFor()
    await page.getByRole('button', { name: 'As a call' }).click()
    expect(await page.locator('dialog pre').textContent()).toContain(`"nickName":"Amazing"`)
    expect((await getUser(userId)).human.profile).toMatchObject({ ...profile, nickName: 'Amazing' })
    expect(faults).toEqual([])
  })

  test('a conflict keeps the form: theirs alone is taken over, and where both changed one is chosen', async () => {
    const { page, userId } = await open()
    await page.getByLabel('Last name').fill('Murray')
    ok(
      await call(
        'UpdateHumanProfile',
        { userId, lastName: 'Murray Hopper', displayName: 'Amazing Grace' },
        admin(organization),
      ),
    )
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const row = page.getByRole('row', { name: 'Last name' })
    await row.waitFor()
    expect(await row.textContent()).toMatch(/Hopper.*Murray Hopper.*Murray/)
    expect(await page.getByLabel('Display name').inputValue()).toBe('Amazing Grace')
    await page.getByText('Changed by another person meanwhile').waitFor()
    expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Last name: Take Yours' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('status').getByText('Saved.').waitFor()
    const { human } = await getUser(userId)
    expect(human.profile).toMatchObject({ lastName: 'Murray', displayName: 'Amazing Grace' })
  })

  test('a change of something else meanwhile stops nobody', async () => {
    const { page, userId } = await open()
    await page.getByLabel('Nickname').fill('G')
    ok(await call('UpdateUserName', { userId, userName: `other-${userId}` }, admin(organization)))
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('status').getByText('Saved.').waitFor()
    expect((await getUser(userId)).human.profile.nickName).toBe('G')
  })

  test('what is not saved is not lost without a question', async () => {
    const { page } = await open()
    await page.getByLabel('Nickname').fill('unsaved')
    await page.getByRole('link', { name: 'People' }).click()
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
    await page.getByRole('button', { name: 'Stay' }).click()
    expect(await page.getByLabel('Nickname').inputValue()).toBe('unsaved')
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Added' }).waitFor()
  })

  test('a person is locked and unlocked, and both are in the history', async () => {
    const { page, userId, goto } = await open()
    await page.getByRole('button', { name: 'Lock' }).click()
    const dialog = page.getByRole('dialog', { name: 'Lock Grace Hopper?' })
    await dialog.waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Lock' }).click()
    await page.getByRole('button', { name: 'Unlock' }).waitFor()
    expect((await getUser(userId)).state).toBe('USER_STATE_LOCKED')
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByRole('button', { name: 'Lock', exact: true }).waitFor()
    await goto(`/people/${userId}/history`)
    const events = page.getByRole('listitem')
    await expect.poll(() => events.count()).toBe(3)
    expect((await events.allTextContents()).map((text) => text.replace(/(ed).*/s, '$1'))).toEqual([
      'Unlocked',
      'Locked',
      'Added',
    ])
  })

  test('a password is set, another one must be chosen at the next sign-in, and the console says why nothing opens', async () => {
    const { page, userId, goto } = await open()
    const application = await newWebApplication(organization, await newProject(organization), { name: 'Billing' })
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Set a password …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Set a password for Grace Hopper' })
    await dialog.waitFor()
    await expectAccessible(page)
    const mustChoose = dialog.getByLabel('Must choose a new one at the next sign-in')
    expect(await mustChoose.isChecked()).toBe(true)
    await dialog.getByLabel('New password').fill('password')
    await dialog.getByRole('button', { name: 'Set a password' }).click()
    await dialog.getByText(/guessed first/).waitFor()
    const password = unique('Password')
    await dialog.getByLabel('New password').fill(password)
    await dialog.getByRole('button', { name: 'Set a password' }).click()
    await page.getByRole('status').getByText('The password of Grace Hopper is set.').waitFor()
    const { userName, human } = await getUser(userId)
    expect(human.passwordChangeRequired).toBe(true)
    const half = ok(await call('CreateSession', { loginName: userName, password }, { url: inject('roster').url }))
    expect(half.missingFactors).toEqual(['AUTHENTICATION_METHOD_TYPE_PASSWORD'])
    await goto(`/explain?person=${userId}&application=${application.appId}`)
    await page
      .getByText(/has to choose another one in the sign-in/)
      .first()
      .waitFor()

    await goto(`/people/${userId}`)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Set a password …' }).click()
    await mustChoose.uncheck()
    await dialog.getByLabel('New password').fill(unique('Password'))
    await dialog.getByRole('button', { name: 'Set a password' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await getUser(userId)).human.passwordChangeRequired).toBeFalsy()
  })

  test('a person is removed by typing the name, and the receipt is shown', async () => {
    const { page, userId } = await open()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Remove …' }).click()
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Remove …' })
    await page.getByLabel('Type “Grace Hopper” to go on.').fill('Grace')
    expect(await remove.isDisabled()).toBe(true)
    await page.getByLabel('Type “Grace Hopper” to go on.').fill('Grace Hopper')
    await remove.click()
    await page.getByRole('dialog', { name: 'Removed' }).waitFor()
    expect(await page.locator('dialog .receipt').textContent()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'To the people' }).click()
    await page.getByRole('heading', { name: 'People' }).waitFor()
    expect((await call('GetUser', { userId }, admin(organization))).error).toMatchObject({
      details: [{ reason: 'USER_NOT_FOUND' }],
    })
  })

  test.each(['', '/access', '/sign-in', '/history'])('the tab %s is accessible, and fits 360 pixels', async (tab) => {
    const { userId } = await newHuman(organization, { profile })
    const options = { viewport: { width: 360, height: 800 } }
    const { page, faults } = await openConsole(browser, owner, `/people/${userId}${tab}`, options)
    await page.getByRole('heading', { level: 1, name: 'Grace Hopper' }).waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    expect(faults).toEqual([])
  })
})
