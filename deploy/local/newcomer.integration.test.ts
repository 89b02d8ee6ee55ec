import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { projectRoot } from './home.ts'
import { freePort } from './ports.ts'

const minutes = 60_000

test.skipIf(withoutChromium)(
  `from npm start to the sign-in of an own application: six clicks, less than three minutes${withoutChromium}`,
  { timeout: 4 * minutes },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'roster-newcomer-'))
    chmodSync(folder, 0o711)
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const browser = await openChromium()
    onTestFinished(() => browser.close())
    const began = performance.now()

    // As npm start does, with a folder of its own for the data.
    const start = join(folder, 'start.ts')
    const main = JSON.stringify(join(import.meta.dirname, 'start.ts'))
    const home = JSON.stringify(join(folder, 'home'))
    writeFileSync(start, `import { main } from ${main}; await main({ dataDir: ${home} })`)
    const said = run([start], { PORT: '0' }, 'SIGINT')
    const output = await said('Ctrl-C stops everything.', 2 * minutes)
    const [, address = ''] = /console +(\S+)/.exec(output) ?? []
    const [, password = ''] = /administrator +admin, with the password (\S+)/.exec(output) ?? []

    const page = await (await browser.newContext({ locale: 'en-GB' })).newPage()
    let clicks = 0
    const click = async (on: Page, role: 'button' | 'link', name: string) => {
      clicks += 1
      await on.getByRole(role, { name, exact: true }).click()
    }
    await page.goto(address)
    await page.getByLabel('Login name').fill('admin')
    await page.getByLabel('Password').fill(password)
    await click(page, 'button', 'Sign in')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await click(page, 'link', 'Applications')
    await click(page, 'link', 'Add an application')
    const shop = `http://localhost:${await freePort(0)}`
    await page.getByLabel('What is it written with?').selectOption('Node (openid-client)')
    await page.getByLabel('Name', { exact: true }).fill('Shop')
    await page.getByLabel('Its addresses, 1').fill(shop)
    await click(page, 'button', 'Add it')
    const env = await page.getByRole('region', { name: '.env', exact: true }).locator('pre').textContent()
    writeFileSync(join(folder, '.env'), env ?? '')
    run([`--env-file=${join(folder, '.env')}`, join(projectRoot, 'examples/web-server.js')], {}, 'SIGTERM')
    await vi.waitFor(() => fetch(shop), { timeout: 20_000, interval: 100 })

    const visit = await page.context().newPage()
    await visit.goto(shop)
    await click(visit, 'link', 'Sign in with Roster')
    await click(visit, 'button', 'Allow')
    await visit.getByRole('heading', { name: /^Hello/ }).waitFor()
    // The first page has seen it arrive.
    await page.getByText('Code redeemed').waitFor()
    expect(clicks).toBe(6)
    expect(performance.now() - began).toBeLessThan(3 * minutes)
  },
)

/** Runs a program until the test ends. Returns what waits for words of its output. */
function run(args: string[], env: Record<string, string>, signal: NodeJS.Signals) {
  const program: ChildProcess = spawn(process.execPath, args, {
    cwd: projectRoot,
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'pipe',
  })
  const ended = new Promise((resolve) => program.once('close', resolve))
  onTestFinished(async () => {
    program.kill(signal)
    await ended
  })
  let output = ''
  for (const stream of [program.stdout!, program.stderr!]) stream.on('data', (chunk) => (output += String(chunk)))
  return (words: string, timeout: number) =>
    vi.waitFor(
      () => {
        expect(output).toContain(words)
        return output
      },
      { timeout, interval: 100 },
    )
}
