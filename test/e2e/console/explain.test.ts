import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { call } from '../clients/encodings.ts'
import { admin, type ExampleHuman, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newWebApplication } from '../../examples/sign-in.ts'
import { expectAccessible, openConsole } from './console-page.ts'

let browser: Browser
let organization: string
let owner: ExampleHuman
let appId: string
const markup = '<img src=x onerror=alert(1)>'

beforeAll(async () => {
  if (withoutChromium) return
  organization = await newOrganization()
  const projectId = await newProject(organization)
  owner = await newMember(organization, ['ORG_OWNER'])
  appId = (await newWebApplication(organization, projectId, { name: `Billing ${markup}` })).appId
  browser = await openChromium()
})
afterAll(() => browser?.close())

const profile = { firstName: 'Ada', lastName: 'Byron', displayName: `Ada Byron ${markup}` }
const newAda = () => newHuman(organization, { profile, password: unique('Password') })

describe.skipIf(withoutChromium)(`explain in Chromium${withoutChromium}`, () => {
  test('says why somebody cannot sign in to an application, and leads to where it is mended', async () => {
    const ada = await newAda()
    ok(await call('LockUser', { userId: ada.userId }, admin(organization)))
    const { page, faults } = await openConsole(browser, owner, `/people/${ada.userId}`)
    await page.getByRole('link', { name: 'Why?' }).click()
    await page.getByRole('heading', { name: 'Explain' }).waitFor()
    await page.getByRole('combobox', { name: 'Find an application' }).pressSequentially('Bill')
    await page.getByRole('option', { name: 'Billing' }).click()
    await page.getByText(`cannot sign in to Billing ${markup}.`).waitFor()
    await page.getByText('The user is locked.').waitFor()
    const { search } = new URL(page.url())
    expect(Object.fromEntries(new URLSearchParams(search))).toEqual({ person: ada.userId, application: appId })
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Fix it' }).first().click()
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByRole('status').getByText('is unlocked').waitFor()
    await page.goBack()
    await page.getByText('can sign in to Billing').waitFor()
    expect(faults).toEqual([])
  })

  test('says why somebody may do something, by which role, and since when; also as of before', async () => {
    const member = await newMember(organization, ['ORG_USER_MANAGER'])
    const { page, faults, goto } = await openConsole(browser, owner, `/explain?question=may&person=${member.userId}`)
    await page.getByLabel('Permission, or operation').fill('user.write')
    await page.getByRole('button', { name: 'Explain', exact: true }).click()
    await page.getByText('may do what needs user.write.').waitFor()
    await page.getByText('A membership of this organization: ORG_USER_MANAGER').waitFor()
    await page.getByText('given').first().waitFor()
    await expectAccessible(page)
    await goto(`/explain?question=may&person=${member.userId}&asked=user.write&at=2020-01-01T00:00`)
    await page.getByText('No: ').waitFor()
    await goto(`/explain?question=may&person=${member.userId}&asked=/roster.grants.v1.ProjectService/AddProject`)
    await page.getByText('may not do what needs project.write.').waitFor()
    await page.getByText('it has no role that gives this').waitFor()
    expect(faults).toEqual([])
  })

  test('says what a token is, which comes into no address', async () => {
    const { token } = (await newMember(organization, [])) as { token: string }
    const { page, faults } = await openConsole(browser, owner, '/explain?question=token', {
      viewport: { width: 360, height: 800 },
    })
    await page.getByLabel('The token').fill(token)
    await page.getByRole('button', { name: 'Explain', exact: true }).click()
    await page.getByText('It is active.').waitFor()
    expect(page.url()).not.toContain(token)
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    await page.getByLabel('The token').fill('magic')
    await page.getByRole('button', { name: 'Explain', exact: true }).click()
    await page.getByText('It is not active.').waitFor()
    expect(faults).toEqual([])
  })
})
