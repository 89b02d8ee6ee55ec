import { randomBytes } from 'node:crypto'
import { decodeProtectedHeader } from 'jose'
import postgres from 'postgres'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { encryptionKey, decodeKey, keyId } from '#lib/encryption/keys'
import { deriveKeys, type KeyHolder } from '../deploy/derive-keys.ts'
import { encryptedSecrets } from '../services/idp/client-secrets.ts'
import { type Answer, factsOf } from './e2e/clients/call.ts'
import { callJson } from './e2e/clients/json.ts'
import type { Operation } from './examples/contract.ts'
import { type House, startHouse } from './house.ts'
import { startTestServers } from './infra.ts'
import { startTestReceiver, type TestReceiver } from './support/receiver.ts'

const storing = ['users', 'grants', 'idp', 'notifier'] as const
const shared = randomBytes(32).toString('base64')
const derived = deriveKeys(shared)

/** The keys of the installation, with another encryption key for each service. */
const withKeys = (change: (own: string) => string) =>
  Object.fromEntries(
    Object.entries(derived).map(([service, { ROSTER_ENCRYPTION_KEY: own, ...others }]) => [
      service,
      own === undefined ? others : { ...others, ROSTER_ENCRYPTION_KEY: change(own) },
    ]),
  ) as typeof derived
/** Before the upgrade: one key for all. */
const before = withKeys(() => shared)
/** A day after the upgrade: the shared key is gone. */
const after = withKeys((own) => own.split(',')[0]!)

let servers: Awaited<ReturnType<typeof startTestServers>>
let house: House
let receiver: TestReceiver
let sql: postgres.Sql

const keys = { ...before }

async function startWith(others: typeof derived) {
  Object.assign(keys, others)
  for (const service of storing) await house.restart(service)
}

async function call(operation: Operation, request: object, more: { token?: string; key?: string } = {}) {
  const headers: Record<string, string> = more.key === undefined ? {} : { 'idempotency-key': more.key }
  return callJson(operation, request as never, { url: house.url, token: house.adminToken, ...more, headers })
}
const ok = ({ ok: response, error }: Answer) => response ?? expect.fail(JSON.stringify(error))
const act = async (...of: Parameters<typeof call>) => ok(await call(...of))

beforeAll(async () => {
  ;[servers, receiver] = await Promise.all([startTestServers(), startTestReceiver()])
  sql = postgres(servers.servers.databaseUrl, { max: 2, onnotice: () => {} })
  const settings = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1', SWEEP_INTERVAL: '1' }
  house = await startHouse(servers.servers.serviceDatabaseUrls, settings, { ...servers, keys })
}, 120_000)
afterAll(async () => {
  await house?.stop()
  await sql?.end()
  await receiver?.stop()
  await servers?.stop()
})

const profile = { firstName: 'Ada', lastName: 'Lovelace' }
const newHuman = async (userName: string) =>
  (await act('AddHumanUser', { userName, profile, email: { email: `${userName}@example.com`, returnCode: {} } })) as {
    userId: string
    emailCode: string
  }
const verify = ({ userId, emailCode }: { userId: string; emailCode: string }) =>
  call('VerifyEmail', { userId, verificationCode: emailCode })

/** A keyed request to each service. */
const keyed: [KeyHolder, Operation, object][] = [
  ['users', 'AddMachineUser', { userName: 'keyed', name: 'Keyed' }],
  ['grants', 'AddProject', { name: 'Keyed' }],
  ['idp', 'AddOIDCIDP', { name: 'Keyed', clientId: 'c', clientSecret: 'of-the-keyed', issuer: 'https://i.example' }],
  ['notifier', 'AddWebhook', { url: 'https://hooks.example.com', eventTypes: ['user.email.changed'] }],
]

async function issue(clientId: string, secret: string): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`
  const body = new URLSearchParams({ grant_type: 'client_credentials' })
  const answer = await fetch(`${house.url}/oauth/v2/token`, { method: 'POST', headers: { authorization }, body })
  return ((await answer.json()) as { access_token: string }).access_token
}

/** The ids of the keys that encrypted the stored data, by table. */
async function encryptedBy(): Promise<Record<string, string[]>> {
  const [row] = await sql<[Record<string, string[]>]>`
    select
      (select array_agg(distinct encode(substr(private_key, 1, 4), 'hex')) from roster_users.signing_keys) as users,
      (select array_agg(distinct encode(substr(sealed, 1, 4), 'hex')) from roster_idp.client_secrets) as idp,
      (select array_agg(distinct encode(substr(sealed, 1, 4), 'hex')) from roster_notifier.webhook_secrets) as notifier
  `
  return row
}
const idOf = (service: KeyHolder) => encryptionKey.read(after[service]['ROSTER_ENCRYPTION_KEY']!).currentId

describe('data from the time when all services had one key', () => {
  let humans: Awaited<ReturnType<typeof newHuman>>[]
  let machine: { userId: string; clientId: string; clientSecret: string; pat: string; jwt: string }
  let hook: { webhookId: string; secret: string }
  let idpId: string
  let answers: Answer[]

  async function usable(token: string) {
    expect(factsOf(await call('GetUser', { userId: machine.userId }, { token })).code).toBe(0)
  }

  beforeAll(async () => {
    humans = [await newHuman('ada'), await newHuman('grace')]
    const { userId } = await act('AddMachineUser', {
      userName: 'm',
      name: 'M',
      accessTokenType: 'ACCESS_TOKEN_TYPE_JWT',
    })
    const { clientId, clientSecret } = await act('AddMachineSecret', { userId })
    const { token: pat } = await act('AddPersonalAccessToken', { userId })
    machine = { userId, clientId, clientSecret, pat, jwt: await issue(clientId, clientSecret) }
    hook = await act('AddWebhook', { url: receiver.url, eventTypes: ['user.machine.added'] })
    ;({ idpId } = await act('AddOIDCIDP', {
      name: 'ACME',
      clientId: 'c',
      clientSecret: 'of-acme',
      issuer: 'https://i.example',
    }))
    answers = []
    for (const [service, operation, request] of keyed) answers.push(await call(operation, request, { key: service }))
    answers.forEach(ok)
    const id = keyId(decodeKey(shared))
    expect(await encryptedBy()).toEqual({ users: [id], idp: [id], notifier: [id] })
  }, 60_000)

  const valid = async () => {
    await usable(machine.pat)
    await usable(machine.jwt)
    const anew = await issue(machine.clientId, machine.clientSecret)
    expect(decodeProtectedHeader(anew).kid).toBe(decodeProtectedHeader(machine.jwt).kid)
    await usable(anew)
    const taken = receiver.received.length
    await act('AddMachineUser', { userName: `seen-${taken}`, name: 'Seen' })
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(taken), { timeout: 20_000 })
    const { body, headers } = receiver.received.at(-1)!
    new Webhook(hook.secret).verify(body, headers as Record<string, string>)
    expect((await act('GetIDP', { idpId })).idp.name).toBe('ACME')
  }

  describe('once each has its own key, none of them the root,', () => {
    beforeAll(() => startWith(derived), 60_000)

    test('is readable: tokens, signing keys, webhooks’ secrets', valid)

    test('an old code is accepted, and a new code is derived from another key', async () => {
      ok(await verify(humans[0]!))
      const fresh = await newHuman('joan')
      ok(await verify(fresh))
      const rows = await sql<{ key: string }[]>`
        select payload ->> 'keyId' as key from roster_users.events
        where aggregate_id = ${fresh.userId} and type = 'email.code.returned'
      `
      expect(rows).toEqual([{ key: idOf('users') }])
    })

    test('each service gives the earlier answer to a keyed request', async () => {
      for (const [index, [service, operation, request]] of keyed.entries()) {
        const again = await call(operation, request, { key: service })
        expect(again.ok).toEqual(answers[index]!.ok)
        expect(again.headers['idempotent-replayed']).toBe('true')
        expect(
          factsOf(await call(operation, { ...request, name: 'X', userName: 'X', description: 'X' }, { key: service }))
            .code,
        ).toBe(3)
      }
    })

    test('all lasting data is encrypted again, each with the key of its service', async () => {
      expect(await encryptedBy()).toEqual({ users: [idOf('users')], idp: [idOf('idp')], notifier: [idOf('notifier')] })
      const [row] = await sql<
        [{ sealed: Buffer }]
      >`select sealed from roster_idp.client_secrets where idp_id = ${idpId}`
      const ring = encryptionKey.read(after['idp']['ROSTER_ENCRYPTION_KEY']!)
      expect(ring.decrypt(encryptedSecrets.purpose, row.sealed)).toBe('of-acme')
    })
  })

  describe('once the shared key is gone,', () => {
    beforeAll(() => startWith(after), 60_000)

    test('everything stays valid, except a code and an answer of the day before', async () => {
      await valid()
      expect((await verify(humans[1]!)).ok).toBeUndefined()
      expect(storing.map((service) => after[service]['ROSTER_ENCRYPTION_KEY'])).not.toContain(shared)
    })
  })
})
