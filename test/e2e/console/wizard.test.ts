import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { projectRoot } from '../../../deploy/local/home.ts'
import { freePort } from '../../../deploy/local/ports.ts'
import { newApplication } from '../../examples/applications.ts'
import { admin, newMember, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'
import { expectAccessible, openConsole } from './console-page.ts'

let browser: Browser
let organization: string
let owner: Awaited<ReturnType<typeof newMember>>
const programs: ChildProcess[] = []
const folder = mkdtempSync(join(tmpdir(), 'roster-wizard-'))

beforeAll(async () => {
  if (withoutChromium) return
  organization = await newOrganization()
  owner = await newMember(organization, ['ORG_OWNER'])
  browser = await openChromium()
})
afterAll(async () => {
  for (const program of programs) program.kill()
  rmSync(folder, { recursive: true })
  await browser?.close()
})

const linesOf = async (page: Page, name: string) =>
  (await page.getByRole('region', { name, exact: true }).locator('pre').textContent())!

async function startExample(env: string, address: string) {
  const file = join(folder, '.env')
  writeFileSync(file, env)
  const program = spawn(process.execPath, [`--env-file=${file}`, 'examples/web-server.js'], {
    cwd: projectRoot,
    stdio: 'inherit',
  })
  programs.push(program)
  await expect
    .poll(() =>
      fetch(address).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
}

describe.skipIf(withoutChromium)(`the wizard in Chromium${withoutChromium}`, () => {
  test('an application is added, its example runs with exactly the lines that are shown, and a person signs in', async () => {
    const { page, faults } = await openConsole(browser, owner, '/projects')
    let clicks = 0
    const click = async (name: string, role: 'link' | 'button' = 'link') => {
      clicks += 1
      await page.getByRole(role, { name, exact: true }).click()
    }
    const address = `http://localhost:${await freePort(0)}`
    await click('Applications')
    await click('Add an application')
    await page.getByLabel('What is it written with?').selectOption('Node (openid-client)')
    await page.getByLabel('Name', { exact: true }).fill('Shop')
    await page.getByLabel('Its addresses, 1').fill(address)
    await page.getByText(`${address}/callback`).waitFor()
    await expectAccessible(page)
    await click('Add it', 'button')
    await page.getByRole('heading', { name: 'Shop: paste these lines' }).waitFor()
    await expectAccessible(page)
    expect(clicks).toBe(3)
    const env = await linesOf(page, '.env')
    expect(env).toMatch(/^CLIENT_SECRET=.{20,}$/m)
    expect(await linesOf(page, 'server.js')).toBe(readFileSync(join(projectRoot, 'examples/web-server.js'), 'utf8'))
    await startExample(env, address)
    const shop = await page.context().newPage()
    await shop.goto(address)
    await shop.getByRole('link', { name: 'Sign in with Roster' }).click()
    await shop.getByRole('button', { name: 'Allow', exact: true }).click()
    await shop.getByRole('heading', { name: 'Hello, Ada L.' }).waitFor()
    // The page has seen it.
    await page.getByText('Code redeemed').waitFor()
    // Nobody sees the secret again.
    await page.getByRole('link', { name: 'To the application' }).click()
    await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor()
    const [, secret] = /^CLIENT_SECRET=(.*)$/m.exec(env)!
    expect(await page.content()).not.toContain(secret)
    expect(faults).toEqual([])
  })

  test('what the API refuses is marked at its address, and the project that was made is not made again', async () => {
    const { page, calls } = await openConsole(browser, owner, '/applications/new')
    await page.getByLabel('Name', { exact: true }).fill('Billing')
    await page.getByLabel('Its addresses, 1').fill('http://billing.example.com')
    await page.getByLabel('Who may sign in').selectOption('Only people who have a role in the project')
    await page.keyboard.press('Control+s')
    await page.getByText(/Its addresses must .*https/).waitFor()
    await page.getByLabel('Its addresses, 1').fill('https://billing.example.com')
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { name: 'Billing: paste these lines' }).waitFor()
    expect(calls.filter((name) => name === 'AddProject')).toHaveLength(1)
    const name = { text: 'Billing', method: 'TEXT_QUERY_METHOD_EQUALS' }
    const { projects } = ok(await call('SearchProjects', { name }, admin(organization)))
    expect(projects).toMatchObject([{ projectRoleCheck: true }])
  })

  test('an API that checks JWTs registers nothing, and one in a project of the address asks with a secret', async () => {
    const projectId = await newProject(organization)
    const { page, calls } = await openConsole(browser, owner, `/applications/new?project=${projectId}`)
    await page.getByLabel('What is it written with?').selectOption('An API in Spring that checks JWTs')
    await page.getByRole('button', { name: 'Show the lines' }).click()
    expect(await linesOf(page, '.env')).toContain(`PROJECT_ID=${projectId}`)
    expect(calls.filter((name) => name.startsWith('Add'))).toEqual([])
    await page.reload()
    await page.getByLabel('What is it written with?').selectOption('An API that asks about opaque tokens')
    await page.getByLabel('Name', { exact: true }).fill('Books')
    await page.getByRole('button', { name: 'Add it' }).click()
    await page.getByRole('heading', { name: 'Books: paste these lines' }).waitFor()
    expect(await linesOf(page, '.env')).toMatch(/^CLIENT_SECRET=.{20,}$/m)
  })

  test('a redirect URI takes three clicks from any page: the menu, the application, Save', async () => {
    const projectId = await newProject(organization)
    const { appId } = await newApplication(organization, projectId, { name: 'Wanted' })
    const { page } = await openConsole(browser, owner, '/people')
    let clicks = 0
    const click = async (name: string, role: 'link' | 'button') => {
      clicks += 1
      await page.getByRole(role, { name, exact: role === 'button' }).click()
    }
    await click('Applications', 'link')
    await click('Wanted', 'link')
    await page.getByLabel('Redirect URIs, 1').fill('https://wanted.example.com/callback')
    await click('Save', 'button')
    await page.getByRole('status').getByText('Saved.').waitFor()
    const { application } = ok(await call('GetApplication', { projectId, appId }, admin(organization)))
    expect(application.oidcConfig.redirectUris).toEqual(['https://wanted.example.com/callback'])
    expect(clicks).toBe(3)
  })

  test('at 360 pixels and in the dark the wizard fits', async () => {
    const options = { viewport: { width: 360, height: 800 }, colorScheme: 'dark' as const }
    const { page, faults } = await openConsole(browser, owner, '/applications/new', options)
    await page.getByLabel('Name', { exact: true }).fill('<img src=x onerror=alert(1)>')
    await expectAccessible(page)
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { name: 'paste these lines' }).waitFor()
    await page.getByRole('region', { name: 'server.js' }).waitFor()
    await expectAccessible(page)
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    expect(faults).toEqual([])
  })
})
