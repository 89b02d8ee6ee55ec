import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { IdentityProviderServiceDefinition } from '#gen/roster/idp/v1/identity_provider_service'
import { openDatabase, type Sql } from '#lib/database/database'
import { startOwnNats } from '#test/support/publishing'
import { encryptionKey } from '#lib/encryption/keys'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { callBytes, type MethodDefinition } from '#lib/rpc/call'
import { callOf, connect, keepingLog, owner, silent } from '#test/support/rpc'
import { testCallerKeys } from '#test/support/caller-keys'
import { startTestKeeper } from '#test/support/keeper'
import type { Servers } from '../../deploy/local/servers.ts'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { encryptedSecrets, openSecret } from './client-secrets.ts'
import { readIdpConfig } from './config.ts'
import { startIdp } from './service.ts'
import { example } from './testing/example.ts'

let servers: Servers
let database: TestDatabase
let sql: Sql
let idp: Nats
let gateway: Nats
let keeper: Service

beforeAll(async () => {
  ;[servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  sql = openDatabase(database.urls.idp, 'idp', silent)
  // Without the stream, the service would wait for it when it stops.
  keeper = await startTestKeeper(servers.natsUrl)
  ;[idp, gateway] = await Promise.all([
    connectNats(servers.natsUrl.idp, 'idp', silent),
    connect(servers.natsUrl.gateway, 'gateway'),
  ])
})
afterAll(async () => {
  await keeper?.stop()
  await Promise.all([idp, gateway].map((nats) => nats?.connection.close()))
  await sql?.end()
  await Promise.all([servers?.stop(), database?.drop()])
})

const newKey = () => randomBytes(32).toString('base64')
let [old, next] = [newKey(), newKey()]

beforeEach(() => {
  ;[old, next] = [newKey(), newKey()]
})

/** Starts the service with these keys and stops it; returns its log. */
async function withService(ROSTER_ENCRYPTION_KEY: string, meanwhile = async () => {}): Promise<string> {
  const { log, lines } = keepingLog()
  const config = readIdpConfig({
    DATABASE_URL: database.urls.idp,
    NATS_URL: servers.natsUrl.idp,
    ROSTER_ENCRYPTION_KEY,
    ROSTER_CALLER_KEY: testCallerKeys.idp,
  })
  const service = await startIdp({ config, nats: idp, log })
  await meanwhile()
  await service.stop()
  return lines.join('')
}

const { methods, fullName } = IdentityProviderServiceDefinition

/** Calls a method for the instance, as its owner. */
async function ask<Request, Response>(
  { name, requestType, responseType }: MethodDefinition<Request, Response>,
  request: Request,
): Promise<Response> {
  const call = callOf({ ...owner, instanceRoles: ['IAM_OWNER'] })
  const bytes = requestType.encode(request).finish()
  return responseType.decode((await callBytes(gateway, `${fullName}.${name}`, bytes, call)).bytes)
}

async function add(clientSecret: string): Promise<string> {
  const { settings, oidc } = example
  return (
    await ask(methods.addOIDCIDP, {
      ...settings,
      ...oidc,
      preset: 0,
      name: `Provider of ${clientSecret}`,
      clientSecret,
    })
  ).idpId
}

async function addDirectory(bindPassword: string): Promise<string> {
  const { timeoutMilliseconds: _, ...ldap } = example.ldap
  return (await ask(methods.addLDAPIDP, { ...example.settings, ...ldap, bindPassword })).idpId
}

/** The secret of a provider, opened with these keys alone. */
async function secretOf(idpId: string, keys: string): Promise<string> {
  const [row] = await sql<{ sealed: Buffer }[]>`select sealed from client_secrets where idp_id = ${idpId}`
  return encryptionKey.read(keys).decrypt(encryptedSecrets.purpose, row!.sealed)
}

test('a start with a new key encrypts client secrets anew, so that the former key may go', async () => {
  let ids: string[] = []
  await withService(old, async () => {
    ids = await Promise.all(['first', 'second'].map(add))
  })
  expect(await secretOf(ids[0]!, old)).toBe('first')
  await expect(secretOf(ids[0]!, next)).rejects.toThrow('no encryption key has the id')
  await withService(`${next},${old}`)
  for (const [index, secret] of ['first', 'second'].entries()) {
    expect(await secretOf(ids[index]!, next)).toBe(secret)
    await expect(secretOf(ids[index]!, old)).rejects.toThrow('no encryption key has the id')
  }
})

test('a secret that no key decrypts stays and is logged, and the others are encrypted anew', async () => {
  let ids: string[] = []
  await withService(newKey(), async () => void (ids = [await add('lost')]))
  const before = await sql`select sealed from client_secrets where idp_id = ${ids[0]!}`
  await withService(old, async () => void ids.push(await add('kept')))
  expect(await withService(`${next},${old}`)).toContain('a key that is gone')
  expect(await secretOf(ids[1]!, next)).toBe('kept')
  expect(await sql`select sealed from client_secrets where idp_id = ${ids[0]!}`).toEqual(before)
})

test('a secret is replaced where one is sent, and goes with its provider', async () => {
  const nothing = { scopes: [], clearScopes: false }
  await withService(old, async () => {
    const ids = [await add('one'), await addDirectory('two')]
    await ask(methods.updateIDPOIDCConfig, { ...nothing, idpId: ids[0]!, clientId: 'other' })
    expect(await Promise.all(ids.map((id) => secretOf(id, old)))).toEqual(['one', 'two'])
    await ask(methods.updateIDPOIDCConfig, { ...nothing, idpId: ids[0]!, clientSecret: 'three' })
    const lists = { servers: [], userObjectClasses: [], userFilters: [] }
    await ask(methods.updateIDPLDAPConfig, { ...lists, idpId: ids[1]!, bindPassword: 'four' })
    expect(await Promise.all(ids.map((id) => secretOf(id, old)))).toEqual(['three', 'four'])
    for (const idpId of ids) await ask(methods.removeIDP, { idpId })
    expect(await sql`select from client_secrets where idp_id = any(${ids})`).toHaveLength(0)
    expect(await sql`select from idps where idp_id = any(${ids})`).toHaveLength(0)
    // Neither the events nor the objects ever had one.
    const stored = await sql`select payload from events union all select state from aggregates`
    expect(JSON.stringify(stored)).toContain('Provider of one')
    expect(JSON.stringify(stored).replaceAll('Provider of one', '')).not.toMatch(/"(one|two|three|four)"/)
  })
})

test('a secret of a former release stays with whom it was given for, once the record names another', async () => {
  const change = { scopes: [], clearScopes: false }
  await withService(old, async () => {
    const idpId = await add('given')
    const opened = (issuer: string) =>
      openSecret({ sql, keys: encryptionKey.read(old) }, idpId, {
        ...example.settings,
        oidc: { ...example.oidc, issuer },
      })
    await sql`update client_secrets set receiver = null where idp_id = ${idpId}`
    expect(await opened(example.oidc.issuer)).toEqual({ secret: 'given' })
    await ask(methods.updateIDPOIDCConfig, { ...change, idpId, issuer: 'https://j.example' })
    expect(await opened('https://j.example')).toEqual({ fault: expect.stringContaining('for another address') })
    await ask(methods.updateIDPOIDCConfig, { ...change, idpId, issuer: 'https://k.example', clientSecret: 'anew' })
    expect(await opened('https://k.example')).toEqual({ secret: 'anew' })
    expect(await opened('https://j.example')).toHaveProperty('fault')
  })
})
