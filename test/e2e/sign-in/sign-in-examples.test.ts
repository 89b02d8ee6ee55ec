import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { projectRoot } from '../../../deploy/local/home.ts'
import { type Example, registerExample } from '../../../examples/register.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { call } from '../clients/encodings.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)
const { url, adminToken } = inject('roster')

let browser: Browser
let reader: ExampleHuman
const programs: ChildProcess[] = []

beforeAll(async () => {
  if (missing) return
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath, args })
})
afterAll(async () => {
  await browser?.close()
  for (const program of programs) program.kill()
})

interface Registered extends Example {
  port: string
  origin: string
}

async function register(which: Example['which'], port = ''): Promise<Registered> {
  const itsPort = port || String(await freePort(0))
  const origin = `http://localhost:${itsPort}`
  return { ...(await registerExample({ issuer: url, token: adminToken, which, origin })), port: itsPort, origin }
}

/** Runs a program of examples/, as `npm run example` does. Resolves with its address when it listens. */
async function run(file: string, env: Record<string, string>): Promise<string> {
  const program = spawn(process.execPath, [join(projectRoot, 'examples', file)], { env: { ...process.env, ...env } })
  programs.push(program)
  let said = ''
  for (const stream of [program.stdout, program.stderr]) stream.on('data', (chunk: Buffer) => (said += String(chunk)))
  return vi.waitFor(() => {
    const [address] = /http:\/\/localhost:\d+/.exec(said) ?? []
    expect(address, said).toBeDefined()
    return address!
  })
}

async function signIn(page: Page, { userName, password }: ExampleHuman) {
  await page.getByLabel('Login name').fill(userName)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
}

describe.skipIf(missing)(`the examples in Chromium${missing ? ' (skipped: there is no Chromium)' : ''}:`, () => {
  let web: Registered
  let page: Registered

  beforeAll(async () => {
    web = await register('web')
    page = await register('page')
    reader = await newHuman(await newOrganization(), { password: unique('Password') })
    // The project is of another organization. So only the grant lets this person in.
    const grant = { userId: reader.userId, projectId: web.projectId, roleKeys: ['reader'] }
    ok(await call('AddUserGrant', grant, admin()))
  })

  test('a web server signs a person in, and out of itself', async () => {
    // As at the second `npm run example`, which knows no secret of the first.
    const { clientId, clientSecret, port, origin } = await register('web', web.port)
    await run('web-server.js', { ISSUER: url, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, PORT: port })
    const tab = await (await browser.newContext()).newPage()
    await tab.goto(origin)
    await tab.getByRole('link', { name: 'Sign in with Roster' }).click()
    await signIn(tab, reader)
    await tab.getByRole('heading', { name: 'Hello' }).waitFor()
    await tab.getByText(reader.email).waitFor()
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await tab.getByRole('link', { name: 'Sign in with Roster' }).waitFor()
  })

  test('a page signs a person in and calls an API, which wants a token and a role', async () => {
    const { clientId, projectId, port, origin } = page
    const api = { ISSUER: url, PROJECT_ID: projectId, PORT: String(await freePort(0)), ALLOWED_ORIGIN: origin }
    const books = `${await run('resource-server.js', api)}/books`
    await run('page/server.js', { ISSUER: url, CLIENT_ID: clientId, API: books, PORT: port })
    const tab = await (await browser.newContext()).newPage()
    await tab.goto(origin)
    await tab.getByRole('button', { name: 'Sign in with Roster' }).click()
    await signIn(tab, reader)
    await tab.getByText('Signed in as').waitFor()
    await tab.getByRole('button', { name: 'Show the books' }).click()
    await tab.getByText('The Mythical Man-Month').waitFor()
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await tab.getByText('Nobody is signed in').waitFor()
    for (const authorization of ['', 'Bearer none'])
      expect((await fetch(books, { headers: { authorization } })).status).toBe(401)
  })
})
