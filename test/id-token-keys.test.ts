import { randomUUID } from 'node:crypto'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashToken } from '#lib/credentials/token-text'
import { openDatabase, type Sql } from '#lib/database/database'
import { createLog } from '#lib/log'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { readUsersConfig } from '../services/users/config.ts'
import { openIdTokenKeys } from '../services/users/openid/tokens/keys/id-token-keys.ts'
import { factsOf } from './e2e/clients/call.ts'
import { callJson } from './e2e/clients/json.ts'
import { ok } from './examples/people.ts'
import { type House, houseKeys, startHouse } from './house.ts'
import { testServers } from './support/servers.ts'

const log = createLog('test', 'silent')
let database: TestDatabase
let house: House
let idTokenKeys: Awaited<ReturnType<typeof openIdTokenKeys>>
let sql: Sql
beforeAll(async () => {
  database = await createDatabase()
  house = await startHouse(database.urls, {}, { log })
  sql = openDatabase(database.urls.users, 'users', log)
  const config = readUsersConfig({
    DATABASE_URL: database.urls.users,
    NATS_URL: testServers().natsUrl.users,
    ...houseKeys.users,
  })
  idTokenKeys = await openIdTokenKeys(sql, config.ROSTER_ENCRYPTION_KEY, config, log)
})
afterAll(async () => {
  idTokenKeys?.stop()
  await sql?.end()
  await house?.stop()
  await database?.drop()
})

test('what a key of ID tokens signed as an access token is refused at every door', async () => {
  const machine = { userName: randomUUID(), name: 'Machine', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' }
  const { userId } = await act('AddMachineUser', machine)
  const { clientSecret } = await act('AddMachineSecret', { userId })
  const send = async (path: string, form: Record<string, string>) => {
    const own = { client_id: userId, client_secret: clientSecret }
    const answer = await fetch(house.url + path, { method: 'POST', body: new URLSearchParams({ ...own, ...form }) })
    return (await answer.json()) as { access_token: string; active: boolean }
  }
  const asked = { grant_type: 'client_credentials', scope: 'openid' }
  const { access_token: right } = await send('/oauth/v2/token', asked)
  const forged = await idTokenKeys.sign('ES256', 'at+jwt', { ...decodeJwt(right), jti: randomUUID() })
  const doors = async (token: string) => ({
    operation: factsOf(await callJson('GetMyUser', {}, { url: house.url, token })).reason ?? 'ok',
    userinfo: (await fetch(`${house.url}/oidc/v1/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status,
    introspection: (await send('/oauth/v2/introspect', { token })).active,
  })
  expect(await doors(right)).toEqual({ operation: 'ok', userinfo: 200, introspection: true })
  expect(await doors(forged)).toEqual({ operation: 'TOKEN_INVALID', userinfo: 401, introspection: false })
  // Its key alone is enough: it is refused as one that was issued, too.
  await sql`
    insert into tokens select (jsonb_populate_record(t, jsonb_build_object('hash', ${hashToken(forged)}::bytea))).*
    from tokens t where hash = ${hashToken(right)}
  `
  expect(await doors(forged)).toMatchObject({ operation: 'TOKEN_INVALID', userinfo: 401 })
})

const act = async (operation: Parameters<typeof callJson>[0], request: object) =>
  ok(await callJson(operation, request as never, { url: house.url, token: house.adminToken }))
