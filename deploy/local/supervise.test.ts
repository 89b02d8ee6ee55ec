import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { daemon } from './daemon.ts'
import { openHome } from './home.ts'
import { startTimeOf, stopStale, writePidFile } from './pid-files.ts'
import { delay, keepAlive } from './supervise.ts'

const forEver = 'setInterval(() => {}, 1000)'

test('the wait doubles with each crash, to thirty seconds, and is cut by chance to no less than half', () => {
  const longest = [1, 2, 3, 4, 5, 6, 7, 8, 40].map((crashes) => delay(crashes, { random: () => 0 }))
  expect(longest).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  expect(delay(3, { random: () => 1 })).toBe(1000)
})

test('a killed process comes back, with one line said; a stopped one does not', { timeout: 20_000 }, async () => {
  const { home, run } = setup(forEver)
  const lines: string[] = []
  const keeper = keepAlive(run, (line) => void lines.push(line), { first: 20 })
  onTestFinished(() => keeper.dismiss())
  await run.start()
  const { pid } = run
  await run.kill()
  await vi.waitFor(() => expect(run.pid).toBeTypeOf('number'))
  expect(run.pid).not.toBe(pid)
  expect(lines).toEqual([expect.stringMatching(/^dummy ended \(SIGKILL\); it starts again in 0\.0 s\. Its log: /)])
  const last = run.pid!
  await run.stop()
  expect(startTimeOf(last)).toBeUndefined()
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(run.pid).toBeUndefined()
  expect(await stopStale(home.run)).toEqual([])
})

test('a process that ignores its stop signal is killed after the grace', async () => {
  const { run } = setup(`process.on("SIGTERM", () => {}); console.log("up"); ${forEver}`)
  await run.start()
  await vi.waitFor(() => expect(readFileSync(run.logFile, 'utf8')).toContain('up'), { timeout: 5_000 })
  const begun = Date.now()
  await run.stop(200)
  expect(Date.now() - begun).toBeGreaterThanOrEqual(190)
})

test('a process that ends before it is ready is reported with what it said, and not with what former ones said', async () => {
  const { run } = setup(`console.error("no such setting"); process.exit(3)`, async () => false)
  for (let start = 0; start < 2; start++)
    await expect(run.start()).rejects.toThrow(
      /^dummy ended before it was ready\.\nThe end of .*dummy\.log:\n  no such setting$/,
    )
})

test(
  'a stale pid file stops its own process, and never a later one with the same number',
  { timeout: 20_000 },
  async () => {
    const { home, run } = setup(forEver)
    await run.start()
    const { pid } = run
    const file = join(home.run, 'dummy.pid')
    const entry = JSON.parse(readFileSync(file, 'utf8')) as object
    rmSync(file)
    appendFileSync(file, JSON.stringify({ ...entry, started: '1' }))
    expect(await stopStale(home.run)).toEqual([])
    expect(startTimeOf(pid!)).toBeTypeOf('string')
    writePidFile(home.run, { name: 'dummy', kind: 'service', pid: pid!, stopSignal: 'SIGTERM' })
    expect(await stopStale(home.run)).toEqual(['dummy'])
    expect(startTimeOf(pid!)).toBeUndefined()
  },
)

function setup(program: string, ready = async () => true) {
  const folder = mkdtempSync(join(tmpdir(), 'roster-daemon-test-'))
  const home = openHome(folder)
  const args = ['--eval', program]
  const run = daemon(home, {
    name: 'dummy',
    kind: 'service',
    command: process.execPath,
    args,
    stopSignal: 'SIGTERM',
    ready,
  })
  onTestFinished(async () => {
    await run.stop(0)
    rmSync(folder, { recursive: true })
  })
  return { home, run }
}
