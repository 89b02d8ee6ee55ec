import { expect, test } from 'vitest'
import { oldest } from '#lib/health/old-server'
import { provision } from '../deploy/provision.ts'
import { alterAnswers } from './support/altered-answers.ts'
import { createDatabase } from './support/database.ts'
import { endOf } from './support/end-of.ts'
import { testServers } from './support/servers.ts'

const servers = testServers()
const refusal = (server: keyof typeof oldest, version: string) =>
  `${server} ${version} is too old: Roster needs ${server} ${oldest[server]} or newer (docs/operations.md).`

/** The way to a server, on which its answers say that it is older. */
async function older(url: string, said: RegExp, version: string): Promise<string> {
  const way = await alterAnswers(url)
  way.alter((answer) => answer.replaceAll(said, version))
  return way.url
}
// The same length: the protocol counts it.
const older14 = (url: string) => older(url, /(?<![\d.])1[5-9](?=\.\d)/g, '14')

test.each(['users', 'notifier'] as const)('%s refuses an older PostgreSQL', async (name) => {
  const url = await older14(servers.serviceDatabaseUrls[name])
  const [code, [sentence, ...rest]] = await endOf(name, { DATABASE_URL: url, NATS_URL: servers.natsUrl[name] })
  expect([code, rest]).toEqual([1, []])
  expect(sentence!.replace(/14\.\d+/, '14.1')).toBe(refusal('PostgreSQL', '14.1'))
})

test('provision refuses an older PostgreSQL', async () => {
  const { adminUrl, drop } = await createDatabase()
  await expect(provision(await older14(adminUrl), servers.databasePasswords)).rejects.toThrow(
    /^PostgreSQL 14\.\d+ is too old/,
  )
  await drop()
})

test('a service refuses an older NATS', async () => {
  const url = await older(servers.natsUrl.users, /"version":"[\d.]+"/g, '"version":"2.9.9"')
  const end = await endOf('users', { DATABASE_URL: servers.serviceDatabaseUrls.users, NATS_URL: url })
  expect(end).toEqual([1, [refusal('NATS', '2.9.9')]])
})

test('the notifier refuses an older Redis', async () => {
  const url = await older(servers.redisUrl, /redis_version:7/g, 'redis_version:5')
  const settings = { DATABASE_URL: servers.serviceDatabaseUrls.notifier, NATS_URL: servers.natsUrl.notifier }
  const [code, [sentence]] = await endOf('notifier', { ...settings, REDIS_URL: url })
  expect(code).toBe(1)
  expect(sentence!.replace(/5[\d.]+/, '5.0')).toBe(refusal('Redis', '5.0'))
})
