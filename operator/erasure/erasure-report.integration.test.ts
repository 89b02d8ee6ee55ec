import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify } from 'jose'
import { connect } from 'nats'
import { pino } from 'pino'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { storingServices } from '../../deploy/provision.ts'
import type { Found } from './look-for-user.ts'
import { tablesWith } from '#test/support/all-rows'
import { type OperatedHouse, startOperatedHouse } from '#test/support/operated-house'
import { runOperator } from '#test/support/operator'

let there: OperatedHouse
const lines: string[] = []

beforeAll(async () => {
  const log = pino({ level: 'debug' }, { write: (line) => void lines.push(line) })
  there = await startOperatedHouse({}, { log })
}, 120_000)
afterAll(() => there?.stop())

const run: OperatedHouse['roster'] = (...args) => there.roster(...args)
const act: OperatedHouse['act'] = (...args) => there.act(...args)
const status = async () => (await run('status', '--json')).json()[0]
const readableStores = async (userId: string) => {
  const [{ stores }] = (await run('forgotten', userId, '--json')).json() as [{ stores: Found[] }]
  return stores.filter(({ readable }) => readable > 0).map(({ store }) => store)
}
const soon = { timeout: 60_000, interval: 500 }

/** A human with everything that leaves copies: a mail, events, and deliveries to a webhook that does not answer. */
async function newHuman(word: string) {
  await act('AddWebhook', { url: 'https://hook.invalid/', eventTypes: [] })
  const profile = { firstName: `${word}first`, lastName: `${word}last`, nickName: `${word}nick` }
  const email = { email: `${word}@example.com` }
  const { userId } = await act('AddHumanUser', { userName: `${word}name`, profile, email, password: 'Password-1234' })
  await act('SetEmail', { userId, email: `${word}2@example.com`, isVerified: true })
  await act('UpdateUserName', { userId, userName: `${word}other` })
  await act('RequestPasswordReset', { loginName: `${word}other`, sendLink: {} }).catch(() => {})
  return userId as string
}

/** Where the word is: tables of each service and PostgreSQL's samples of them, messages of the stream, keys of Redis, lines of the log. */
async function placesOf(word: string): Promise<string[]> {
  const places: string[] = []
  for (const service of storingServices) {
    const sql = postgres(there.servers.serviceDatabaseUrls[service], { max: 1, onnotice: () => {} })
    places.push(...(await tablesWith(sql, [word])))
    const samples = await sql<{ name: string }[]>`
      select distinct 'samples of ' || tablename as name from pg_stats
      where most_common_vals::text ilike ${`%${word}%`} or histogram_bounds::text ilike ${`%${word}%`}
    `
    places.push(...samples.map(({ name }) => name))
    await sql.end()
  }
  const { host, username, password } = new URL(there.servers.natsUrl.admin)
  const nats = await connect({ servers: host, user: username, pass: password })
  const { streams } = await nats.jetstreamManager()
  const { state } = await streams.info('roster-events')
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await streams.getMessage('roster-events', { seq }).catch(() => undefined)
    const text = message && `${message.subject} ${JSON.stringify([...message.header])} ${message.string()}`
    if (text?.includes(word)) places.push('stream')
  }
  await nats.close()
  const redis = new Redis(there.servers.redisUrl)
  for (const key of await redis.keys('*')) {
    const dump = await redis.dumpBuffer(key)
    if (key.includes(word) || dump?.includes(word)) places.push('redis')
  }
  redis.disconnect()
  if (lines.some((line) => line.includes(word))) places.push('log')
  return [...new Set(places)].toSorted()
}

test('of a removed user nothing readable is left: the command says so, and no store has a name or an address', async () => {
  const word = 'zyxword'
  const userId = await newHuman(word)
  await vi.waitFor(async () => expect(await placesOf(word)).toContain('stream'), soon)
  const living = await run('forgotten', userId)
  expect(living.status).toBe(1)
  expect(living.out).toContain('! This user can still be read.')
  await vi.waitFor(async () => {
    const [{ stores }] = (await run('forgotten', userId, '--json')).json() as [
      { stores: { store: string; readable: number }[] },
    ]
    const readable = (name: string) => stores.find(({ store }) => store === name)!.readable
    for (const store of ['subject_keys', 'found_users', 'stream', 'deliveries', 'passwords', 'unique_keys'])
      expect([store, readable(store) > 0]).toEqual([store, true])
  }, soon)

  await there.admin`analyze`
  expect(await placesOf(word)).toContain('samples of found_users')
  await act('DeleteUser', { userId })
  await vi.waitFor(
    async () => expect((await run('forgotten', userId)).out).toContain('Nothing readable is left.'),
    soon,
  )
  expect(await placesOf(word)).toEqual([])
  expect(await run('forgotten', userId)).toMatchObject({ status: 0 })
})

test('while the notifier is away, deliveries may still get data of a removed user, and status counts them', async () => {
  const { userId } = await act('AddMachineUser', { userName: `machine-${randomUUID()}`, name: 'M' })
  await vi.waitFor(async () => expect((await status()).forgettings.deliveries.waiting).toBe(0), soon)
  await there.house.restart('notifier', async () => {
    await act('DeleteUser', { userId })
    // The stream and the statistics do not wait for the notifier.
    await vi.waitFor(async () => expect(await readableStores(userId)).toEqual(['deliveries']), soon)
    expect((await status()).forgettings).toMatchObject({ stream: { waiting: 0 }, deliveries: { waiting: 1 } })
    await there.admin`update roster_users.forgettings set removed_at = removed_at - interval '2 minutes' where user_id = ${userId}`
    expect((await status()).attention).toContainEqual(
      expect.stringMatching(/^the deliveries of the notifier may still identify a user who was removed \d+ s ago$/),
    )
  })
  await vi.waitFor(async () => expect(await readableStores(userId)).toEqual([]), soon)
  expect((await status()).forgettings).toMatchObject({ deliveries: { waiting: 0 } })
})

test('a stream that has old events of a removed user again is cleaned again', async () => {
  const { userId, details } = await act('AddMachineUser', { userName: `machine-${randomUUID()}`, name: 'M' })
  await act('DeleteUser', { userId })
  await vi.waitFor(async () => expect(await readableStores(userId)).not.toContain('stream'), soon)
  const { host, username, password } = new URL(there.servers.natsUrl.users)
  const nats = await connect({ servers: host, user: username, pass: password })
  const subject = `roster.events.users.${details.resourceOwner}.user.${userId}.machine.added`
  await nats.jetstream().publish(subject, '{"userName":"zyx-again"}')
  await nats.close()
  await there.admin`update roster_users.published set stream_created = ''`
  await act('AddMachineUser', { userName: `machine-${randomUUID()}`, name: 'M' })
  await vi.waitFor(async () => expect(await placesOf('zyx-again')).toEqual([]), { ...soon, timeout: 40_000 })
})

test('the command refuses a user who never was', async () => {
  expect((await run('forgotten', 'no-one')).status).toBe(2)
})

describe('a receipt', () => {
  async function files() {
    const folder = mkdtempSync(join(tmpdir(), 'roster-receipt-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { userId } = await act('AddMachineUser', { userName: `machine-${randomUUID()}`, name: 'M' })
    const { receipt } = await act('DeleteUser', { userId })
    const [file, keys] = [join(folder, 'receipt'), join(folder, 'keys')]
    writeFileSync(file, `${receipt}\n`)
    writeFileSync(keys, await (await fetch(`${there.house.url}/oauth/v2/keys`)).text())
    return { userId, receipt: receipt as string, file, keys }
  }

  /** An access token, which the same keys sign. */
  async function newToken(): Promise<string> {
    const machine = { userName: `machine-${randomUUID()}`, name: 'M', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' }
    const { userId } = await act('AddMachineUser', machine)
    const { clientSecret } = await act('AddMachineSecret', { userId })
    const answer = await fetch(`${there.house.url}/oauth/v2/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: userId, client_secret: clientSecret }),
    })
    return ((await answer.json()) as { access_token: string }).access_token
  }

  test('verifies without any server', async () => {
    const { userId, file, keys } = await files()
    const { status, out } = await runOperator(['receipt', file, keys], {})
    expect(JSON.parse(out)).toMatchObject({ removal: { userId, removedBy: 'admin-machine' } })
    expect(status).toBe(0)
  })

  test('that was changed does not', async () => {
    const { receipt, file, keys } = await files()
    writeFileSync(file, receipt.replace(/\.[^.]+\./, `.${Buffer.from('{}').toString('base64url')}.`))
    expect((await runOperator(['receipt', file, keys], {})).status).toBe(1)
    writeFileSync(keys, 'none')
    expect((await runOperator(['receipt', file, keys], {})).status).toBe(2)
  })

  test('of another Roster does not, nor anything else that these keys sign', async () => {
    const { file, keys } = await files()
    const token = await newToken()
    expect((await jwtVerify(token, createLocalJWKSet(JSON.parse(readFileSync(keys, 'utf8'))))).payload).toBeDefined()
    writeFileSync(file, token)
    expect((await runOperator(['receipt', file, keys], {})).status).toBe(1)
    const { publicKey } = await generateKeyPair('ES256', { extractable: true })
    const other = await files()
    writeFileSync(other.keys, JSON.stringify({ keys: [await exportJWK(publicKey)] }))
    expect((await runOperator(['receipt', other.file, other.keys], {})).status).toBe(1)
  })
})
