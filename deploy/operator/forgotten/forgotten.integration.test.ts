import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { connect } from 'nats'
import { pino } from 'pino'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Operation } from '../../../test/examples/contract.ts'
import { callJson } from '../../../test/e2e/clients/json.ts'
import { type House, startHouse } from '../../../test/house.ts'
import { startTestServers } from '../../../test/infra.ts'
import { storingServices } from '../../provision.ts'
import { tablesWith } from '#test/support/all-rows'
import { operatorSettings, runOperator } from '#test/support/operator'

let started: Awaited<ReturnType<typeof startTestServers>>
let house: House
let settings: Record<string, string>
const lines: string[] = []

beforeAll(async () => {
  started = await startTestServers()
  const log = pino({ level: 'debug' }, { write: (line) => void lines.push(line) })
  house = await startHouse(started.servers.serviceDatabaseUrls, {}, { servers: started.servers, log })
  settings = operatorSettings(started.servers)
}, 120_000)
afterAll(async () => {
  await house?.stop()
  await started?.stop()
})

const run = (...args: string[]) => runOperator(args, settings)
const act = async (operation: Operation, request: object) => {
  const answer = await callJson(operation, request as never, { token: house.adminToken, url: house.url })
  if (answer.error) throw new Error(JSON.stringify(answer.error))
  return answer.ok
}
const soon = { timeout: 60_000, interval: 500 }

/** A human with everything that leaves copies: a mail, events, and deliveries to a webhook that nobody answers. */
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

/** Where the word is: tables of each service, messages of the stream, keys of Redis, lines of the log. */
async function placesOf(word: string): Promise<string[]> {
  const places: string[] = []
  for (const service of storingServices) {
    const sql = postgres(started.servers.serviceDatabaseUrls[service], { max: 1, onnotice: () => {} })
    places.push(...(await tablesWith(sql, [word])))
    await sql.end()
  }
  const { host, username, password } = new URL(started.servers.natsUrl.admin)
  const nats = await connect({ servers: host, user: username, pass: password })
  const { streams } = await nats.jetstreamManager()
  const { state } = await streams.info('roster-events')
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await streams.getMessage('roster-events', { seq }).catch(() => undefined)
    const text = message && `${message.subject} ${JSON.stringify([...message.header])} ${message.string()}`
    if (text?.includes(word)) places.push('stream')
  }
  await nats.close()
  const redis = new Redis(started.servers.redisUrl)
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
    const [{ stores }] = (await run('forgotten', userId, '--json')).json() as [{ stores: { store: string; readable: number }[] }] // prettier-ignore
    const readable = (name: string) => stores.find(({ store }) => store === name)!.readable
    for (const store of ['subject_keys', 'found_users', 'stream', 'deliveries', 'passwords', 'unique_keys'])
      expect([store, readable(store) > 0]).toEqual([store, true])
  }, soon)

  await act('DeleteUser', { userId })
  await vi.waitFor(
    async () => expect((await run('forgotten', userId)).out).toContain('Nothing readable is left.'),
    soon,
  )
  expect(await placesOf(word)).toEqual([])
  expect(await run('forgotten', userId)).toMatchObject({ status: 0 })
})

test('the command refuses a user who never was', async () => {
  expect((await run('forgotten', 'nobody')).status).toBe(2)
})

describe('a receipt', () => {
  async function files() {
    const folder = mkdtempSync(join(tmpdir(), 'roster-receipt-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { userId } = await act('AddMachineUser', { userName: `machine-${randomUUID()}`, name: 'M' })
    const { receipt } = await act('DeleteUser', { userId })
    const [file, keys] = [join(folder, 'receipt'), join(folder, 'keys')]
    writeFileSync(file, `${receipt}\n`)
    writeFileSync(keys, await (await fetch(`${house.url}/oauth/v2/keys`)).text())
    return { userId, receipt: receipt as string, file, keys }
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
})
