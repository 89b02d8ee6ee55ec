import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import postgres, { type Sql } from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Operation } from '../examples/contract.ts'
import { basic, clientCredentials, tokenPath } from '../examples/oauth.ts'
import { factsOf } from '../e2e/clients/call.ts'
import { callJson } from '../e2e/clients/json.ts'
import { startTestReceiver, type TestReceiver } from '../support/receiver.ts'
import { shiftClock } from '../support/shift-clock.ts'
import { act } from '../faults/act.ts'
import { type Running, startRunning } from '../faults/running.ts'

const library = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0]
const why = library === undefined ? ' (skipped: libfaketime is not there, Debian’s package faketime)' : ''
const hour = 3_600_000
const soon = { timeout: 60_000, interval: 100 }

let running: Running
let sql: Sql
let receiver: TestReceiver
let clockFile: string
let number = 0

beforeAll(async () => {
  if (library === undefined) return
  clockFile = join(await mkdtemp(join(tmpdir(), 'roster-clock-')), 'clock')
  await writeFile(clockFile, '+0')
  running = await startRunning({
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  })
  sql = postgres(running.servers.databaseUrl, { max: 1, onnotice: () => {} })
  receiver = await startTestReceiver()
  await act(running, 'AddWebhook', { url: receiver.url, eventTypes: ['user.*'] })
}, 120_000)
afterEach(async () => {
  if (library === undefined) return
  running.servers.mailbox!.accept()
  receiver.answer(() => 200)
  await shiftServices('0')
  await setClock('+0')
})
afterAll(async () => {
  await receiver?.stop()
  await sql?.end()
  await running?.stop()
  if (clockFile) await rm(dirname(clockFile), { recursive: true })
})

/** Sets the clock of all five services, as libfaketime reads it. */
async function setClock(offset: string): Promise<void> {
  await writeFile(clockFile, offset)
  // Each process looks once a second, and calls go on once all have looked.
  await sleep(2500)
}

/** Milliseconds by which the services' clock is ahead. */
async function ahead(): Promise<number> {
  const { headers } = await fetch(`${running.url}/readyz`)
  return Date.parse(headers.get('date')!) - Date.now()
}

const shiftServices = (by: string) =>
  Promise.all(['roster_users', 'roster_notifier'].map((schema) => shiftClock(sql, by, schema)))

const call = (operation: Operation, request: object, token = running.adminToken) =>
  callJson(operation, request as never, { url: running.url, token })

async function addHuman(more: object = {}) {
  const email = `human-${++number}@example.com`
  const profile = { firstName: 'Ada', lastName: 'Lovelace' }
  const { userId } = await act(running, 'AddHumanUser', { userName: email, profile, email: { email }, ...more })
  return { userId: userId as string, email }
}

const mailsTo = (address: string) =>
  running.servers.mailbox!.mails.list().filter(({ To }) => To.some(({ Address }) => Address === address))

async function codeOf(address: string): Promise<string> {
  await vi.waitFor(() => expect(mailsTo(address)).toHaveLength(1), soon)
  return /code=([A-Z0-9]{6})/.exec(mailsTo(address)[0]!.Text)![1]!
}

const isNow = (time: unknown) => expect(Math.abs(new Date(time as string).getTime() - Date.now())).toBeLessThan(60_000)

describe.skipIf(library === undefined).each(['+5h', '-5h'])(`on a host whose clock is %s off${why}`, (offset) => {
  const far = (offset.startsWith('+') ? 5 : -5) * hour

  test('codes live as long as PostgreSQL says, and what happens has its time', async () => {
    const before = await addHuman()
    const code = await codeOf(before.email)
    await setClock(offset)
    expect(Math.abs((await ahead()) - far)).toBeLessThan(60_000)
    isNow((await act(running, 'VerifyEmail', { userId: before.userId, verificationCode: code })).details.changeDate)

    const { userId, email } = await addHuman()
    const next = await codeOf(email)
    expect(mailsTo(email)[0]!.Text).toMatch(/valid for (1 hour|one hour|59 minutes|60 minutes)/)
    await shiftServices('61 minutes')
    const late = await call('VerifyEmail', { userId, verificationCode: next })
    expect(factsOf(late).reason).toBe('CODE_INVALID')
    await shiftServices('59 minutes')
    await act(running, 'VerifyEmail', { userId, verificationCode: next })
  })

  test('tokens begin and end by the time of PostgreSQL, and work', async () => {
    await setClock(offset)
    const { userName, password } = { userName: `session-${++number}`, password: 'Correct-horse-7' }
    await addHuman({ userName, password, email: { email: `${userName}@example.com`, isVerified: true } })
    const session = await act(running, 'CreateSession', { loginName: userName, password })
    isNow(new Date(session.expirationDate).getTime() - 12 * hour)
    expect((await call('GetMyUser', {}, session.sessionToken)).error).toBeUndefined()

    const machine = { userName: `machine-${number}`, name: 'M', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' }
    const { userId } = await act(running, 'AddMachineUser', machine)
    const { clientSecret } = await act(running, 'AddMachineSecret', { userId })
    const headers = basic(userId, clientSecret)
    const form = new URLSearchParams({ grant_type: clientCredentials })
    const answer = await fetch(running.url + tokenPath, { method: 'POST', headers, body: form })
    const { access_token: token } = (await answer.json()) as { access_token: string }
    const { iat = 0, exp = 0 } = decodeJwt(token)
    isNow(iat * 1000)
    expect(exp - iat).toBe(12 * 3600)
    expect((await call('GetMyUser', {}, token)).error).toBeUndefined()
  })

  test('mails and webhooks that waited when the clock was set come, once, and with the right time', async () => {
    await setClock(offset)
    running.servers.mailbox!.refuse({ code: 451 })
    let refused = 0
    receiver.answer(() => (refused++, 500))
    const { userId, email } = await addHuman()
    await vi.waitFor(() => expect(refused).toBeGreaterThan(0), soon)
    // The mail waits for its next try.
    await sleep(1500)
    await setClock(offset.startsWith('+') ? '-5h' : '+5h')
    receiver.answer(() => 200)
    running.servers.mailbox!.accept()
    const code = await codeOf(email)
    const received = () => receiver.taken().find(({ event }) => event.subject === `user/${userId}`)
    await vi.waitFor(() => expect(received()).toBeDefined(), soon)
    isNow(received()!.event.timestamp)
    isNow(Number(received()!.headers['webhook-timestamp']) * 1000)
    await act(running, 'VerifyEmail', { userId, verificationCode: code })
    expect(mailsTo(email)).toHaveLength(1)
  })
})
