import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openDatabase, type Sql } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { partsFile, readParts } from '#lib/schema/schema-parts'
import { silent } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { testServers } from '#test/support/servers'
import { provision, storingServices, type StoringService } from '../../deploy/provision.ts'
import { models } from '../models.ts'
import { openSystem, type System } from '../system.ts'
import { checkSchema } from './check-schema.ts'

let database: TestDatabase
let system: System
const databases = new Map<StoringService, Sql>()

const folderOf = (service: StoringService) => new URL(`../../services/${service}/migrations/`, import.meta.url)
const start = (service: StoringService, folder = folderOf(service)) =>
  migrate(databases.get(service)!, folder, silent, models[service])
const missing = async (service: StoringService) =>
  (await checkSchema(system.sql(service), service)).map(({ problem }) => problem)

beforeAll(async () => {
  database = await createDatabase()
  const { operator } = await provision(database.adminUrl, testServers().databasePasswords)
  system = openSystem({ databaseUrl: operator!, natsUrl: '', redisUrl: undefined })
  for (const service of storingServices) databases.set(service, openDatabase(database.urls[service], service, silent))
})
afterAll(async () => {
  await system?.close()
  for (const sql of databases.values()) await sql.end()
  await database?.drop()
})

test.each(storingServices)('schema.txt of %s lists what the migrations make', async (service) => {
  // Without the list of before, which may name what is no more.
  const folder = mkdtempSync(join(tmpdir(), 'roster-migrations-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(folderOf(service), folder, { recursive: true, filter: (file) => !file.endsWith(partsFile) })
  await start(service, pathToFileURL(`${folder}/`))
  const parts = await readParts(databases.get(service)!)
  await expect(`${parts.join('\n')}\n`).toMatchFileSnapshot(fileURLToPath(new URL(partsFile, folderOf(service))))
  await start(service)
  expect(await missing(service)).toEqual([])
})

test('verify names an index that somebody dropped, and the service makes it again at its start', async () => {
  const sql = databases.get('users')!
  await sql`drop index users_of_organization`
  expect(await missing('users')).toEqual([
    expect.stringMatching(/^it is missing: index CREATE INDEX users_of_organization ON aggregates /),
  ])
  await start('users')
  expect(await missing('users')).toEqual([])
})

test('a service does not start without a column or a function of its migrations, and says which is missing', async () => {
  const sql = databases.get('idp')!
  await sql`alter table audit_chain rename column reason to other`
  await sql`alter function audit_hold() rename to other`
  const parts = ['column audit_chain.reason ', 'function audit_hold()']
  expect(await missing('idp')).toEqual(parts.map((part) => expect.stringContaining(part)))
  await expect(start('idp')).rejects.toThrow(
    /lacks what the migrations make: column audit_chain\.reason .*audit_hold\(\)/,
  )
})
