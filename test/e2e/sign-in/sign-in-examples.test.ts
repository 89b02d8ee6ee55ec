import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { projectRoot } from '../../../deploy/local/home.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { call } from '../clients/encodings.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)
const { url, adminToken } = inject('roster')

let browser: Browser
let reader: ExampleHuman
const programs: ChildProcess[] = []

const folder = mkdtempSync(join(tmpdir(), 'roster-examples-'))

beforeAll(async () => {
  writeFileSync(join(folder, 'admin-token'), adminToken)
  if (missing) return
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath, args })
})
afterAll(async () => {
  await browser?.close()
  for (const program of programs) program.kill()
  rmSync(folder, { recursive: true })
})

interface Started {
  output: () => string
  ended: Promise<unknown>
}

/** `npm run example`, with these arguments. */
function start(args: string[], env: Record<string, string> = {}): Started {
  const settings = { ROSTER_URL: url, ROSTER_ADMIN_TOKEN_FILE: join(folder, 'admin-token'), ...env }
  const program = spawn(process.execPath, [join(projectRoot, 'examples/start.ts'), ...args], {
    env: { ...process.env, ...settings },
  })
  programs.push(program)
  let said = ''
  for (const stream of [program.stdout, program.stderr]) stream.on('data', (chunk: Buffer) => (said += String(chunk)))
  return { output: () => said, ended: once(program, 'close') }
}

/** Resolves with the address that an example says when it listens. */
async function addressOf({ output }: Started, what: string): Promise<string> {
  return vi.waitFor(
    () => {
      const [, address] = new RegExp(`The ${what} is at (http://localhost:\\S+)`).exec(output()) ?? []
      expect(address, output()).toBeDefined()
      return address!
    },
    { timeout: 20_000 },
  )
}

async function signIn(page: Page, { userName, password }: ExampleHuman) {
  await page.getByLabel('Login name').fill(userName)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
}

async function allow(page: Page) {
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
}

test('an example says that no Roster runs, and where it looked', async () => {
  const closed = `http://localhost:${await freePort(0)}`
  const { output, ended } = start([], { ROSTER_URL: closed })
  expect(await ended).toEqual([1, null])
  expect(output()).toBe(`No Roster answers at ${closed}. Start it in another terminal of ${projectRoot}: npm start\n`)
})

describe.skipIf(missing)(`the examples in Chromium${missing ? ' (skipped: there is no Chromium)' : ''}:`, () => {
  let web: Started

  beforeAll(async () => {
    web = start(['--port', String(await freePort(0))])
    await addressOf(web, 'example')
    reader = await newHuman(await newOrganization(), { password: unique('Password') })
    // The project is of another organization. So only the grant lets this person in.
    ok(await call('AddUserGrant', { userId: reader.userId, projectId: 'example', roleKeys: ['reader'] }, admin()))
  })

  test('two web servers beside each other sign a person in, and out of themselves', async () => {
    const first = await addressOf(web, 'example')
    // Its port is held, so it takes another, for which the same application is registered as well.
    const second = start([], { PORT: new URL(first).port })
    const other = await addressOf(second, 'example')
    expect(second.output()).toContain(
      `Another program has port ${new URL(first).port}: this is at ${new URL(other).port}.`,
    )
    for (const origin of [other, first]) {
      const tab = await (await browser.newContext()).newPage()
      await tab.goto(origin)
      await tab.getByRole('link', { name: 'Sign in with Roster' }).click()
      await signIn(tab, reader)
      // Both are one application, which is asked for once.
      if (origin === other) await allow(tab)
      await tab.getByRole('heading', { name: 'Hello' }).waitFor()
      await tab.getByText(reader.email).waitFor()
      await tab.getByRole('button', { name: 'Sign out' }).click()
      await tab.getByRole('link', { name: 'Sign in with Roster' }).waitFor()
    }
    const { applications } = ok(await call('SearchApplications', { projectId: 'example' }, admin()))
    expect((applications as { name: string }[]).filter(({ name }) => name === 'Example: web')).toHaveLength(1)
  })

  test('a page signs a person in and calls an API, which wants a token and a role', async () => {
    const page = start(['page', '--port', '0'])
    const [origin, books] = [await addressOf(page, 'page'), await addressOf(page, 'API')]
    const tab = await (await browser.newContext()).newPage()
    await tab.goto(origin)
    await tab.getByRole('button', { name: 'Sign in with Roster' }).click()
    await signIn(tab, reader)
    await allow(tab)
    await tab.getByText('Signed in as').waitFor()
    await tab.getByRole('button', { name: 'Show the books' }).click()
    await tab.getByText('The Mythical Man-Month').waitFor()
    // The API demands a second factor of who has signed in by one.
    const order = tab.getByRole('button', { name: 'Order a book' })
    await order.click()
    await tab.getByRole('button', { name: 'Send me a code' }).waitFor()
    if (hasMailbox()) {
      await tab.getByRole('button', { name: 'Send me a code' }).click()
      await tab.getByLabel('Code from the email').fill((await mailTo(reader.email)).code)
      await tab.keyboard.press('Enter')
      await order.click()
      await tab.getByText('"acr": "urn:roster:acr:2"').waitFor()
    } else {
      await tab.getByRole('button', { name: 'Go on without it' }).click()
    }
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await tab.getByText('Nobody is signed in').waitFor()
    for (const authorization of ['', 'Bearer none'])
      expect((await fetch(books, { headers: { authorization } })).status).toBe(401)
  })
})
