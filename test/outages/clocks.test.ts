import { globSync, writeFileSync } from 'node:fs'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openHome } from '../../deploy/local/home.ts'
import { freePort } from '../../deploy/local/ports.ts'
import { startPostgres } from '../../deploy/local/servers/postgres-server.ts'
import { startRunning } from '../faults/running.ts'
import { act } from '../faults/act.ts'
import { acknowledged } from '../faults/load.ts'
import { throughOutage } from './through-outage.ts'

const library = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0]
const why = library === undefined ? ' (skipped: libfaketime is not there, Debian’s package faketime)' : ''
/** Seconds: more than receivers of webhooks tolerate, and less than a code lives. */
const jump = 400

/** A clock that follows a file: what a process needs for it, and how to set it. */
function makeClock() {
  const folder = mkdtempSync(join(tmpdir(), 'roster-clocks-'))
  chmodSync(folder, 0o755)
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'clock')
  const set = (offset: string) => writeFileSync(file, offset)
  set('+0')
  const environment = {
    LD_PRELOAD: library!,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  return { folder, set, environment }
}

describe.skipIf(library === undefined)(`a clock that jumps ahead and back, then behind and back${why}`, () => {
  test(
    'at PostgreSQL: what receivers refuse comes again, at most as late as the clock was ahead, and nothing is lost',
    { timeout: 4 * jump * 1000 },
    async () => {
      const { folder, set, environment } = makeClock()
      // PostgreSQL alone, which inherits what this process has.
      Object.assign(process.env, environment)
      const started = startPostgres(openHome(join(folder, 'home')), {
        port: await freePort(0),
        ephemeral: true,
        say: () => {},
      })
      const { url: DATABASE_URL, server } = await started
      for (const name of Object.keys(environment)) delete process.env[name]
      onTestFinished(() => server.stop())
      const running = await startRunning({}, { env: { DATABASE_URL } })
      onTestFinished(() => running.stop())
      const sql = postgres(DATABASE_URL, { max: 1 })
      onTestFinished(() => sql.end())
      const ahead = async () => (await sql`select clock_timestamp() as now`)[0]!['now'].getTime() - Date.now()

      const outcome = await throughOutage(running, 1, async (load) => {
        for (const offset of [jump, 0, -jump, 0]) {
          set(`${offset < 0 ? '' : '+'}${offset}`)
          await expect.poll(async () => Math.abs((await ahead()) / 1000 - offset)).toBeLessThan(30)
          await acknowledged(load, load.acknowledged + 40)
        }
        // What was refused while the clock was ahead is due only when that time has come, or now, as docs/operations.md says.
        for (const operation of ['DeactivateWebhook', 'ReactivateWebhook'] as const)
          for (const { id } of (await act(running, 'ListWebhooks', { allOrganizations: true })).webhooks)
            await act(running, operation, { webhookId: id })
        const [{ last }] = await sql<[{ last: string }]>`select max(position) as last from roster_notifier.deliveries`
        const waiting = () => sql`select from roster_notifier.deliveries where state = 'queued' and position <= ${last}`
        await expect.poll(async () => (await waiting()).length, { timeout: 2 * jump * 1000, interval: 5000 }).toBe(0)
      })
      console.log('PostgreSQL', JSON.stringify(outcome))
      const refusal = / came to the webhook: Message timestamp too (new|old)$/
      expect([...outcome.violations.filter((sentence) => !refusal.test(sentence)), ...outcome.missed]).toEqual([])
    },
  )

  test('at one service: its calls may be retried meanwhile, and nothing is lost', async () => {
    const { set, environment } = makeClock()
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const running = await startRunning({}, { under: (name) => (name === 'users' ? ['env', ...variables] : []) })
    onTestFinished(() => running.stop())
    const outcome = await throughOutage(running, 1, async (load) => {
      for (const offset of ['+1h', '-1h']) {
        const refused = () => [...load.errors.values()].reduce((sum, count) => sum + count, 0)
        const before = refused()
        set(offset)
        await expect.poll(refused).toBeGreaterThan(before + 5)
        set('+0')
        await acknowledged(load, load.acknowledged + 40)
      }
    })
    console.log('users', JSON.stringify(outcome))
    expect([...outcome.violations, ...outcome.missed]).toEqual([])
  })
})
