import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openDatabase } from '#lib/eventstore/database'
import { migrate } from '#lib/eventstore/migrate'
import { silent } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { provision, storingServices } from '../../../provision.ts'
import { models } from '../../models.ts'
import { openSchema } from '../../open-schema.ts'
import { checkShape, partLine } from './check-shape.ts'
import { readShape } from './read-shape.ts'

let database: TestDatabase
let operatorUrl: string

beforeAll(async () => {
  database = await createDatabase()
  operatorUrl = (await provision(database.adminUrl, inject('servers').databasePasswords)).operator!
  for (const service of storingServices) {
    const sql = openDatabase(database.urls[service], service, silent)
    const folder = new URL(`../../../../services/${service}/migrations/`, import.meta.url)
    await migrate(sql, folder, silent, models[service])
    await sql.end()
  }
})
afterAll(() => database?.drop())

test('shapes.txt tells what the migrations make, line by line', async () => {
  const lines: string[] = []
  for (const service of storingServices) {
    const sql = openSchema(operatorUrl, service, 5000, () => {})
    try {
      for (const part of await readShape(sql, `roster_${service}`, undefined)) lines.push(partLine(service, part))
      // What another order of the lines could not show.
      if (!process.argv.includes('-u'))
        expect(await checkShape(sql, service)).toEqual({ found: [], isReadable: true })
    } finally {
      await sql.end()
    }
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./shapes.txt')
})
