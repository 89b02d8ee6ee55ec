import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type Sql } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { silent } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { models } from '../operator/models.ts'
import { storingServices } from '../deploy/provision.ts'

/** Columns and parts of keys that are compared for equality alone, so that the order of letters does not matter. */
const equalOnly = [
  /[._](id|ids|hash|type|kind|state|role|roles|key|kid|aggregate|subject|follower|protocol|purpose|scope|service)$/,
  /^(followers|migrations)_pkey\.name$/,
  /^invitations_by_ended\.ended$/,
  // Keyed hashes.
  /^login_addresses_\w+\.address$/,
  /^(events_of_(authorizations|sessions)|held_memberships|held_project_grants|held_user_grants|holdings)\.expr1?$/,
]

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database?.drop())

test.each(storingServices)('each text of %s that an index orders has the collation "C"', async (service) => {
  const sql: Sql = openDatabase(database.urls[service], service, silent)
  try {
    await migrate(sql, new URL(`../services/${service}/migrations/`, import.meta.url), silent, models[service])
    const columns = await sql<{ index: string; column: string }[]>`
      select i.relname as index, a.attname as "column"
      from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
      join pg_attribute a on a.attrelid = i.oid join pg_collation l on l.oid = x.indcollation[a.attnum - 1]
      where t.relnamespace = current_schema()::regnamespace and a.attnum <= x.indnkeyatts and l.collname <> 'C'
      order by 1, 2
    `
    const names = columns.map(({ index, column }) => `${index}.${column}`)
    expect(names.filter((name) => !equalOnly.some((pattern) => pattern.test(name)))).toEqual([])
  } finally {
    await sql.end()
  }
})
