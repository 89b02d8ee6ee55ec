import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { projectRoot } from '../../../deploy/local/home.ts'
import { freePort } from '../../../deploy/local/ports.ts'
import { profile } from '../../examples/people.ts'
import { withoutChromium } from '../../support/browsers/chromium.ts'
import { build, elsewhere, unlessThereIs } from '../build.ts'
import { environment } from '../run-commands.ts'
import { ask, expectSignedOut, refreshes, signIn } from './browse.ts'
import { filesOf } from './files-of.ts'
import { openPlace, type Place } from './place.ts'
import { register } from './register.ts'

const why = withoutChromium || unlessThereIs('npm')

let place: Place
beforeAll(async () => {
  if (!withoutChromium) place = await openPlace()
})
afterAll(() => place?.close())

async function newOrigin() {
  const port = String(await freePort(0))
  return { port, origin: `http://localhost:${port}` }
}

describe.skipIf(why)(`docs/sign-in/express.md${why}`, () => {
  let origin: string

  beforeAll(async () => {
    const commands = 'cd express && npm install --ignore-scripts'
    const cwd = join(await build('examples/express', filesOf('express'), commands), 'express')
    const found = await newOrigin()
    origin = found.origin
    const env = { ...(await register(place, 'express.md', { 'http://localhost:3000': origin })), PORT: found.port }
    await place.start(['node', 'server.js'], origin, { cwd, env })
  })

  test('Express signs a person in with name and role, refreshes, and signs out at Roster, too', async () => {
    const page = await place.openPage()
    await signIn(place, page, origin)
    await page.getByText(profile.displayName).waitFor()
    await page.getByText(place.person.email).waitFor()
    await page.getByText('Roles: reader').waitFor()
    expect(await ask(page, `${origin}/books`)).toMatchObject({ status: 200 })

    place.recorder.forget()
    const known = await ask(page, `${origin}/profile`)
    expect(known.text).toContain(place.person.email)
    expect(refreshes(place)).toHaveLength(1)

    await page.getByRole('link', { name: 'Sign out' }).click()
    await expectSignedOut(page, origin)
  })

  test('docs/sign-in/testing.md: tests of it sign fixed people in once, and keep their cookies, at each run', async () => {
    const commands = 'cd testing && npm install --ignore-scripts'
    const cwd = join(await build('examples/testing', filesOf('testing'), commands), 'testing')
    const { auth } = await place.paste(`echo '{"auth":"'"$AUTH"'"}'`)
    const settings = {
      ISSUER: place.issuer,
      PROJECT: place.projectId,
      ADMIN_TOKEN: auth.split(' ').at(-1),
      SHOP: origin,
    }
    const env = { ...environment, ...settings, CHROMIUM: process.env['CHROMIUM'] ?? '/usr/bin/chromium' }
    for (const run of ['first', 'second']) {
      const { stdout } = await promisify(execFile)('npx', ['playwright', 'test'], { cwd, env })
      expect(stdout, `the ${run} run`).toContain('5 passed')
    }
  })
})

const next = why || elsewhere

describe.skipIf(next)(`docs/sign-in/nextjs.md${next}`, () => {
  test('Next.js signs a person in with name and role, refreshes, and signs out at Roster, too', async () => {
    const commands = 'cd nextjs && npm install --ignore-scripts && npx next build'
    const folder = join(await build('examples/nextjs', filesOf('nextjs'), commands), 'nextjs')
    const { port, origin } = await newOrigin()
    const registered = await register(place, 'nextjs.md', { 'http://localhost:3000': origin })
    const env = { ...registered, AUTH_URL: origin, AUTH_SECRET: 'a secret of this test, which is long' }
    await place.start(['npx', 'next', 'start', '--port', port], origin, { cwd: folder, env })
    const page = await place.openPage()
    await page.goto(origin)
    await page.getByRole('button', { name: 'Sign in with Roster' }).click()
    await place.signIn(page)
    await page.getByText(profile.displayName).waitFor()
    await page.getByText(place.person.email).waitFor()
    await page.getByText('Roles: reader').waitFor()

    place.recorder.forget()
    await page.reload()
    await page.getByText('Roles: reader').waitFor()
    expect(refreshes(place).length).toBeGreaterThan(0)
    const session = await ask(page, `${origin}/api/auth/session`)
    expect(session.text).not.toContain('oken')

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in with Roster' }).click()
    await page.getByLabel('Password').waitFor()
  })
})

describe.skipIf(why)(`docs/sign-in/auth-express.md${why}`, () => {
  test('Auth.js in Express signs a person in with name and role, refreshes by each successor, and signs out at Roster, too', async () => {
    const commands = 'cd auth-express && npm install --ignore-scripts'
    const files = filesOf('auth-express', 'nextjs')
    const cwd = join(await build('examples/auth-express', files, commands), 'auth-express')
    const { port, origin } = await newOrigin()
    const registered = await register(place, 'auth-express.md', { 'http://localhost:3000': origin })
    await place.start(['node', 'server.js'], origin, { cwd, env: { ...registered, PORT: port } })
    const page = await place.openPage()
    const begin = async () => {
      await page.getByRole('link', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: 'Sign in with Roster' }).click()
    }
    await page.goto(origin)
    await begin()
    await place.signIn(page)
    await page.getByText(profile.displayName).waitFor()
    await page.getByText(place.person.email).waitFor()
    await page.getByText('Roles: reader').waitFor()

    place.recorder.forget()
    for (let visit = 0; visit < 3; visit++) expect(await ask(page, `${origin}/books`)).toMatchObject({ status: 200 })
    const used = refreshes(place).map(({ parameters }) => parameters.get('refresh_token'))
    expect(used).toHaveLength(3)
    expect(new Set(used).size, 'each refresh is by the successor of the one before').toBe(3)

    await page.getByRole('button', { name: 'Sign out' }).click()
    await begin()
    await page.getByLabel('Password').waitFor()
  })
})

describe.skipIf(withoutChromium)(`docs/sign-in/browser.md${withoutChromium}`, () => {
  test('a page signs a person in with name and role, refreshes, calls with its token, and signs out at Roster, too', async () => {
    const { port, origin } = await newOrigin()
    const env = { ...(await register(place, 'browser.md', { 'http://localhost:3002': origin })), PORT: port }
    await place.start(['node', 'serve.js'], origin, { cwd: join(projectRoot, 'examples/browser'), env })
    const page = await place.openPage()
    const begin = () => page.getByRole('button', { name: 'Sign in with Roster' }).click()
    await page.goto(origin)
    await begin()
    await place.signIn(page)
    await page.getByText(`${profile.displayName}, ${place.person.email}, roles: reader`).waitFor()

    place.recorder.forget()
    await page.getByRole('button', { name: 'Refresh' }).click()
    await expect.poll(() => refreshes(place).length).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Show my profile' }).click()
    await page.locator('#answer').getByText(place.person.email).waitFor()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('Nobody is signed in.').waitFor()
    await begin()
    await page.getByLabel('Password').waitFor()
  })
})

describe.skipIf(withoutChromium)(`docs/sign-in/command-line.md${withoutChromium}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'roster-command-line-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('a program in a terminal signs a person in with name and role, refreshes, and signs out', async () => {
    const file = join(folder, 'shop.json')
    const env = { ...process.env, ...(await register(place, 'command-line.md')), SHOP_FILE: file }
    const shop = ['shop.js', { cwd: join(projectRoot, 'examples/command-line'), env }] as const
    const call = (word: string) => promisify(execFile)(process.execPath, [shop[0], word], shop[1])

    const program = spawn(process.execPath, [shop[0], 'sign-in'], shop[1])
    const said = listen(program)
    const ended = once(program, 'close')
    const address = await vi.waitFor(() => {
      const [found] = /http:\/\/localhost\S+/.exec(said()) ?? []
      expect(found, said()).toBeDefined()
      return found!
    })
    const page = await place.openPage()
    await page.goto(address)
    await place.signIn(page)
    await page.getByText('Go back to the terminal.').waitFor()
    expect(await ended, said()).toEqual([0, null])
    expect(said()).toContain(`Signed in as ${profile.displayName}`)
    expect(statSync(file).mode & 0o077).toBe(0)

    place.recorder.forget()
    expect((await call('whoami')).stdout).toBe(`${profile.displayName}, ${place.person.email}, roles: reader\n`)
    expect(refreshes(place)).toHaveLength(1)

    expect((await call('sign-out')).stdout).toBe('Signed out.\n')
    expect(place.recorder.to('/oauth/v2/revoke')).toHaveLength(1)
    await expect(call('whoami')).rejects.toThrow('You are not signed in')
  })
})

function listen(program: ChildProcess): () => string {
  let said = ''
  for (const stream of [program.stdout!, program.stderr!]) stream.on('data', (chunk: Buffer) => (said += String(chunk)))
  return () => said
}
