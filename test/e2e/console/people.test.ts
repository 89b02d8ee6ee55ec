import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { call } from '../clients/encodings.ts'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { expectAccessible, openConsole } from './console-page.ts'

let browser: Browser
let organization: string
let owner: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  if (withoutChromium) return
  organization = await newOrganization()
  const people = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing'].map(async (displayName) => {
    const [firstName = '', lastName = ''] = displayName.split(' ')
    return newHuman(organization, { profile: { firstName, lastName, displayName } })
  })
  const [, , alan] = await Promise.all(people)
  ok(await call('LockUser', { userId: alan!.userId }, admin(organization)))
  owner = await newMember(organization, ['ORG_OWNER'])
  browser = await openChromium()
})
afterAll(() => browser?.close())

describe.skipIf(withoutChromium)(`the list of people in Chromium${withoutChromium}`, () => {
  test('shows state, factors and last sign-in, finds as one types, and the address has what was chosen', async () => {
    const { page, faults, goto } = await openConsole(browser, owner, '/people')
    const rows = page.getByRole('table', { name: 'People' }).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(4)
    // The newest is the owner, who signed in when they were made.
    expect(await rows.first().textContent()).toMatch(/Ada L\..*active.*Password.*ago/)
    expect(await rows.filter({ hasText: 'Alan Turing' }).textContent()).toMatch(/locked.*none.*never/)
    await page.getByRole('searchbox').pressSequentially('hopp')
    await expect.poll(() => rows.count()).toBe(1)
    expect(new URL(page.url()).search).toBe('?q=hopp')
    await page.getByRole('searchbox').fill('')
    await page.getByLabel('State').selectOption('locked')
    await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining('Alan Turing')])
    await page.reload()
    await expect.poll(() => rows.count()).toBe(1)
    await goto('/people?second=some')
    await page.getByText('Nothing matches.').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expect.poll(() => rows.count()).toBe(4)
    // The whole row opens.
    await rows.filter({ hasText: 'Grace' }).click({ position: { x: 900, y: 20 } })
    await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
    expect(faults).toEqual([])
  })

  test('the rows of before stay while the next ones come, and at an error, with its request id', async () => {
    const { page } = await openConsole(browser, owner, '/people')
    const table = page.getByRole('table', { name: 'People' })
    await expect.poll(() => table.locator('tbody tr').count()).toBe(4)
    const held = Promise.withResolvers<void>()
    await page.route('**/roster.users.v1.UserService/SearchUsers', async (route) => {
      await held.promise
      const json = { code: 'internal', message: 'Something failed.', details: [] }
      await route.fulfill({ status: 500, json, headers: { 'x-request-id': 'r-17' } })
    })
    await page.getByRole('searchbox').fill('ada')
    await page.locator('table[aria-busy=true]').waitFor()
    expect(await table.locator('tbody tr').count()).toBe(4)
    held.resolve()
    await page.getByRole('alert').filter({ hasText: 'Something failed.' }).waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('r-17')
    expect(await table.locator('tbody tr').count()).toBe(4)
    await page.unroute('**/roster.users.v1.UserService/SearchUsers')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  test('pages follow each other by a cursor in the address, and Previous leads back', async () => {
    const large = await newOrganization()
    const users = Array.from({ length: 60 }, (_, n) => ({
      human: {
        userName: unique('many'),
        profile: { firstName: 'Many', lastName: String(n).padStart(2, '0') },
        email: { email: `${unique('m')}@example.com`, isVerified: true },
      },
    }))
    ok(await call('BulkAddUsers', { users }, admin(large)))
    const member = await newMember(large, ['ORG_OWNER_VIEWER'])
    const { page } = await openConsole(browser, member, '/people?sort=name')
    const rows = page.getByRole('table', { name: 'People' }).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(50)
    const firstOf = () => rows.first().getByRole('link').getAttribute('href')
    const first = await firstOf()
    await page.getByRole('button', { name: 'Next' }).click()
    await expect.poll(() => rows.count()).toBe(11)
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Previous' }).click()
    await expect.poll(() => rows.count()).toBe(50)
    expect(await firstOf()).toBe(first)
    // A viewer adds nobody.
    expect(await page.getByRole('link', { name: 'Add a person' }).count()).toBe(0)
  })

  test('who may not read people is told which permission it takes, and the menu has no entry', async () => {
    const nobody = await newMember(organization, [])
    const member = { projectId: await newProject(organization), userId: nobody.userId, roles: ['PROJECT_OWNER'] }
    ok(await call('AddProjectMember', member, admin(organization)))
    const { page } = await openConsole(browser, nobody, '/people')
    await page.getByText('You lack the permission user.read').waitFor()
    expect(await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'People' }).count()).toBe(0)
  })

  test('a person is added by the form, which marks what the API would refuse, and makes one by a double click', async () => {
    const { page, calls, faults } = await openConsole(browser, owner, '/people')
    await page.getByRole('link', { name: 'Add a person' }).click()
    await page.getByLabel('First name').fill('Barbara')
    await page.getByLabel('Email').fill('not an address')
    await page.getByRole('button', { name: 'Add a person' }).click()
    await page.getByText('Last name must be at least 1 characters.').waitFor()
    await page.getByText('Email must be one address, such as ada@example.com.').waitFor()
    expect(await page.getByLabel('Last name').getAttribute('aria-invalid')).toBe('true')
    expect(calls).not.toContain('AddHumanUser')
    await expectAccessible(page)
    const email = `${unique('barbara')}@example.com`
    await page.getByLabel('Last name').fill('Liskov')
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('User name').fill(email)
    await page.getByRole('button', { name: 'Add a person' }).dblclick()
    await page.getByRole('heading', { name: 'Barbara Liskov' }).waitFor()
    expect(calls.filter((name) => name === 'AddHumanUser')).toHaveLength(1)
    expect(faults).toEqual([])
  })

  test('several are locked at once by the keyboard, with a result for each, and saved as a table without formulas', async () => {
    const home = await newOrganization()
    const manager = await newMember(home, ['ORG_OWNER'])
    const names = ['=1+1', 'Ada', 'Grace'].map((firstName) => ({
      firstName,
      lastName: 'X',
      displayName: `${firstName} X`,
    }))
    for (const profile of names) await newHuman(home, { profile })
    const { page, faults } = await openConsole(browser, manager, '/people?sort=name')
    const rows = page.getByRole('table', { name: 'People' }).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(4)
    expect(await rows.filter({ hasText: 'Grace X' }).textContent()).toContain('invited')
    for (const name of ['=1+1 X', 'Grace X']) {
      await rows.filter({ hasText: name }).getByRole('link').focus()
      await page.keyboard.press('x')
    }
    await page.getByText('2 people chosen').waitFor()
    await expectAccessible(page)
    // One of them is locked already by somebody else.
    const grace = (await rows.filter({ hasText: 'Grace X' }).getByRole('link').getAttribute('href'))!.split('/').at(-1)!
    ok(await call('LockUser', { userId: grace }, admin(home)))
    await page.getByRole('button', { name: 'Lock', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Lock' }).click()
    const results = page.getByRole('table', { name: 'Results' }).locator('tbody tr')
    await expect.poll(() => results.filter({ hasText: '=1+1 X' }).textContent()).toContain('done')
    await expect.poll(() => results.filter({ hasText: 'Grace X' }).textContent()).toMatch(/Grace X.*locked/)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => rows.filter({ hasText: '=1+1 X' }).textContent()).toContain('locked')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).click()
    const text = readFileSync(await (await download).path(), 'utf8')
    expect(text.split('\r\n')).toHaveLength(6)
    expect(text).toContain(",'=1+1 X,")
    await page.getByText('4 people are in the file.').waitFor()
    expect(faults).toEqual([])
  })

  test.each([
    { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
    { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
    { colorScheme: 'light', viewport: { width: 360, height: 800 } },
  ] as const)('is accessible and fits: $colorScheme, $viewport.width wide', async (options) => {
    const { page } = await openConsole(browser, owner, '/people', options)
    await page.getByText('Grace Hopper').waitFor()
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(options.viewport.width)
  })

  test('speaks German to who reads German', async () => {
    const { page } = await openConsole(browser, owner, '/people', { locale: 'de-CH' })
    await page.getByRole('heading', { name: 'Personen' }).waitFor()
    expect(await page.evaluate('document.documentElement.lang')).toBe('de')
    // So do the rules of its forms.
    await page.getByRole('link', { name: 'Person hinzufügen' }).click()
    await page.getByRole('button', { name: 'Person hinzufügen' }).click()
    await page.getByText('Nachname darf nicht leer sein.').waitFor()
  })
})
