import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { IdentityProviderServiceDefinition } from '#gen/roster/idp/v1/identity_provider_service'
import { openDatabase, type Sql } from '#lib/eventstore/database'
import { startOwnNats } from '#test/support/publishing'
import { encryptionKey } from '#lib/keys'
import { connectNats, type Nats } from '#lib/nats'
import { callBytes } from '#lib/rpc/call'
import { callOf, connect, keepingLog, owner, silent } from '#test/support/rpc'
import { testCallerKeys } from '#test/support/caller-keys'
import type { Servers } from '../../deploy/local/servers.ts'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { sealedSecrets } from './client-secrets.ts'
import { readIdpConfig } from './config.ts'
import { startIdp } from './service.ts'

let servers: Servers
let database: TestDatabase
let sql: Sql
let idp: Nats
let gateway: Nats

beforeAll(async () => {
  ;[servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  sql = openDatabase(database.urls.idp, 'idp', silent)
  ;[idp, gateway] = await Promise.all([
    connectNats(servers.natsUrl.idp, 'idp', silent),
    connect(servers.natsUrl.gateway, 'gateway'),
  ])
})
afterAll(async () => {
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

async function add(clientSecret: string): Promise<string> {
  const { requestType, responseType, name } = IdentityProviderServiceDefinition.methods.addOIDCIDP
  const provider = {
    stylingType: 0 as const,
    clientId: 'c',
    issuer: 'https://i.example',
    scopes: [],
    autoRegister: false,
  }
  const request = requestType.encode({ ...provider, name: `Provider of ${clientSecret}`, clientSecret }).finish()
  const call = callOf({ ...owner, instanceRoles: ['IAM_OWNER'] })
  const subject = `${IdentityProviderServiceDefinition.fullName}.${name}`
  return responseType.decode((await callBytes(gateway, subject, request, call)).bytes).idpId
}

/** The secret of a provider, opened with these keys alone. */
async function secretOf(idpId: string, keys: string): Promise<string> {
  const [row] = await sql<{ sealed: Buffer }[]>`select sealed from client_secrets where idp_id = ${idpId}`
  return encryptionKey.read(keys).open(sealedSecrets.purpose, row!.sealed)
}

test('a start with a new key seals client secrets anew, so that the former key may go', async () => {
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

test('a secret that no key opens stays and is logged, and the others are sealed anew', async () => {
  let ids: string[] = []
  await withService(newKey(), async () => void (ids = [await add('lost')]))
  const before = await sql`select sealed from client_secrets where idp_id = ${ids[0]!}`
  await withService(old, async () => void ids.push(await add('kept')))
  expect(await withService(`${next},${old}`)).toContain('an encryption key that is gone')
  expect(await secretOf(ids[1]!, next)).toBe('kept')
  expect(await sql`select sealed from client_secrets where idp_id = ${ids[0]!}`).toEqual(before)
})
