import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openHome } from '../deploy/local/home.ts'
import { keepOperatorUrls } from '../deploy/local/operator-urls.ts'
import { readUrls } from './settings.ts'

function home() {
  const dir = mkdtempSync(join(tmpdir(), 'roster-settings-test-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return openHome(dir)
}

const urls = {
  databaseUrl: 'postgres://roster_operator:p@h/roster',
  natsUrl: 'nats://operator:p@h',
  redisUrl: 'redis://h',
}

test('the command finds the servers of npm start, in a file that only its user reads', () => {
  const started = home()
  keepOperatorUrls(started, urls)
  expect(readUrls({}, started.dir)).toEqual(urls)
  expect(statSync(join(started.dir, 'operator.json')).mode & 0o777).toBe(0o600)
})

test("settings win, and a service's or an administrator's DATABASE_URL does not count", () => {
  const started = home()
  keepOperatorUrls(started, urls)
  const others = {
    DATABASE_URL: 'postgres://postgres:p@h/roster',
    NATS_URL: 'nats://admin:p@h',
    REDIS_URL: 'redis://x',
  }
  expect(readUrls(others, started.dir)).toEqual(urls)
  const own = {
    ROSTER_OPERATOR_DATABASE_URL: 'postgres://roster_operator:p@there/roster',
    ROSTER_OPERATOR_NATS_URL: 'nats://operator:p@there',
  }
  expect(readUrls({ ...others, ...own }, started.dir)).toEqual({
    databaseUrl: own.ROSTER_OPERATOR_DATABASE_URL,
    natsUrl: own.ROSTER_OPERATOR_NATS_URL,
    redisUrl: undefined,
    personalKey: undefined,
  })
})

test('a database alone will do, and no other server of the last start counts then', () => {
  const started = home()
  keepOperatorUrls(started, urls)
  const ROSTER_OPERATOR_DATABASE_URL = 'postgres://roster_operator:p@there/roster'
  expect(readUrls({ ROSTER_OPERATOR_DATABASE_URL }, started.dir)).toEqual({ databaseUrl: ROSTER_OPERATOR_DATABASE_URL })
})

test('where DATABASE_URL leads to another database than the last start, the command asks which one is meant', () => {
  const started = home()
  keepOperatorUrls(started, urls)
  for (const there of ['restored:5432/roster', 'h:5433/roster', 'h/other'])
    expect(() => readUrls({ DATABASE_URL: `postgres://postgres:p@${there}` }, started.dir)).toThrow(
      /^DATABASE_URL leads to .*, and the Roster of the last npm start here is at h:5432, database roster: set ROSTER_/,
    )
})

test('half of the settings are refused: the other half must not be another system', () => {
  const started = home()
  keepOperatorUrls(started, urls)
  const half = { ROSTER_OPERATOR_NATS_URL: 'nats://operator:p@there' }
  expect(() => readUrls(half, started.dir)).toThrow('ROSTER_OPERATOR_DATABASE_URL is not set')
  expect(() => readUrls({}, home().dir)).toThrow('No Roster is known here')
})
