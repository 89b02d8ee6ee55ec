import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { alterAnswers } from '#test/support/altered-answers'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { runOperator } from '#test/support/operator'
import { testServers } from '#test/support/servers'
import { provision } from '../deploy/provision.ts'

let database: TestDatabase
let operator: string
beforeAll(async () => {
  database = await createDatabase()
  operator = (await provision(database.adminUrl, testServers().databasePasswords)).operator!
})
afterAll(() => database?.drop())

test('where no host of PostgreSQL and NATS can be reached, the command ends within seconds and says so', async () => {
  const silent = createServer(() => {})
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const hosts = `127.0.0.1:1,127.0.0.1:${(silent.address() as AddressInfo).port}`
  const began = Date.now()
  const settings = {
    ROSTER_OPERATOR_DATABASE_URL: `postgres://roster_operator:x@${hosts}/roster?target_session_attrs=read-write`,
    ROSTER_OPERATOR_NATS_URL: `nats://operator:x@${hosts}`,
  }
  const { status, out } = await runOperator(['status'], settings)
  expect(Date.now() - began).toBeLessThan(20_000)
  expect(status).toBe(1)
  expect(out).toMatch(/^! users: cannot be looked at: .*CONNECT/m)
  expect(out).toMatch(/^! services: cannot be looked at: NATS at 127.0.0.1:1, 127.0.0.1:\d+ does not let/m)
}, 60_000)

/** Commands that read tell why PostgreSQL takes no writes, in one sentence. Those that write refuse with it. */
async function tells(url: string, sentence: string) {
  const settings = { ROSTER_OPERATOR_DATABASE_URL: url, ROSTER_OPERATOR_NATS_URL: 'nats://operator:x@127.0.0.1:1' }
  for (const args of [
    ['parked', 'list'],
    ['verify', '--audit', '--json'],
  ])
    expect((await runOperator(args, settings)).err.split('\n').filter((line) => line === `${sentence}.`)).toHaveLength(
      1,
    )
  expect((await runOperator(['status'], settings)).out).toContain(`\n! ${sentence}\n`)
  const writing = ['parked drop', 'parked retry', 'republish', 'history reconcile', 'sessions end', 'removals repeat']
  for (const name of [...writing, 'verify'])
    expect(await runOperator([...name.split(' '), '--yes'], settings)).toMatchObject({
      status: 2,
      out: '',
      err: `${sentence}, so ${name} does nothing there.\n`,
    })
}

test('where PostgreSQL is a standby, commands that read say so, and those that write refuse', async () => {
  const { url, alter } = await alterAnswers(operator)
  const [no, yes] = ['f', 't'].map((one) => `\0\x03\0\0\0\x01${one}\0\0\0\x01${one}`) as [string, string]
  alter((answer) => (answer.includes('isStandby') ? answer.replace(no, yes) : answer))
  await tells(url, `PostgreSQL at ${new URL(url).host} is a standby, which may lag behind and takes no writes`)
}, 60_000)

test('where two hosts of PostgreSQL take writes, commands that read say so, and those that write refuse', async () => {
  const other = await alterAnswers(operator)
  // The second of its start is another one.
  other.alter((answer) => answer.replace(/(\d{9})\d(\.\d{6})/, (_, head, tail) => `${head}x${tail}`))
  const hosts = [operator, other.url].map((url) => new URL(url).host)
  await tells(
    operator.replace(hosts[0]!, hosts.join()),
    `PostgreSQL at ${hosts.join(' and at ')} takes writes, and only one may: stop the former primary`,
  )
}, 60_000)

test('a standby among several hosts of PostgreSQL hinders no command', async () => {
  const { url, alter } = await alterAnswers(operator)
  const standby = (answer: string) => answer.replaceAll('\0\x03\0\0\0\x01f\0\0\0\x01f', '\0\x03\0\0\0\x01t\0\0\0\x01t')
  alter((answer) => (answer.includes('isStandby') ? standby(answer) : answer))
  const both = operator.replace(new URL(operator).host, `${new URL(url).host},${new URL(operator).host}`)
  const settings = { ROSTER_OPERATOR_DATABASE_URL: both, ROSTER_OPERATOR_NATS_URL: 'nats://operator:x@127.0.0.1:1' }
  for (const args of [
    ['parked', 'list'],
    ['sessions', 'end', '--yes'],
  ])
    expect((await runOperator(args, settings)).err).not.toContain('PostgreSQL at')
}, 60_000)

test('where PostgreSQL is set to take no writes, commands that read say so, and those that write refuse', async () => {
  const admin = postgres(database.adminUrl, { max: 1 })
  await admin.unsafe(`alter database ${new URL(operator).pathname.slice(1)} set default_transaction_read_only = on`)
  await admin.end()
  const place = `PostgreSQL at ${new URL(operator).host}`
  await tells(operator, `${place} takes no writes, because of default_transaction_read_only`)
}, 60_000)
