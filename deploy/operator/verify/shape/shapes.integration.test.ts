import { afterAll, beforeAll, expect, test } from 'vitest'
import { testServers } from '#test/support/servers'
import { openDatabase, type Sql } from '#lib/eventstore/database'
import { migrate } from '#lib/eventstore/migrate'
import { silent } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { provision, storingServices, type StoringService } from '../../../provision.ts'
import { models } from '../../models.ts'
import { openSchema } from '../../open-schema.ts'
import { checkShape, partLine } from './check-shape.ts'
import { readShape } from './read-shape.ts'

let database: TestDatabase
let operatorUrl: string

beforeAll(async () => {
  database = await createDatabase()
  operatorUrl = (await provision(database.adminUrl, testServers().databasePasswords)).operator!
  for (const service of storingServices) {
    const sql = openDatabase(database.urls[service], service, silent)
    const folder = new URL(`../../../../services/${service}/migrations/`, import.meta.url)
    await migrate(sql, folder, silent, models[service])
    await sql.end()
  }
})
afterAll(() => database?.drop())

async function withSchemas(work: (sql: Sql, service: StoringService) => Promise<void>) {
  for (const service of storingServices) {
    const { sql } = openSchema(operatorUrl, service, { patience: 5000, mayWrite: false })
    try {
      await work(sql, service)
    } finally {
      await sql.end()
    }
  }
}

test('shapes.txt tells what the migrations make, line by line', async () => {
  const lines: string[] = []
  await withSchemas(async (sql, service) => {
    for (const part of await readShape(sql, `roster_${service}`, undefined)) lines.push(partLine(service, part))
  })
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./shapes.txt')
})

test('what the migrations made has no finding', async () => {
  await withSchemas(async (sql, service) =>
    expect(await checkShape(sql, service)).toEqual({ found: [], isReadable: true }),
  )
})
