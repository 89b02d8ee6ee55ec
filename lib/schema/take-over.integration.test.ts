import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silent } from '#test/support/rpc'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { storingServices } from '../../deploy/provision.ts'
import { roster } from '../health/release.ts'
import { openDatabase, type Sql } from '../database/database.ts'
import { describeSchema } from './describe-schema.ts'
import { migrate } from './migrate.ts'
import { findOperatorClasses } from './build-indexes.ts'
import { filesOf03, hashOf, schemasOf03 } from './take-over.ts'

let database: TestDatabase

beforeEach(async () => {
  database = await createDatabase()
})
afterEach(() => database.drop())

const folderOf = (service: string) => new URL(`../../services/${service}/migrations/`, import.meta.url)

/** Makes the tables of 0.3, and its notes in `migrations`. */
async function make03(service: (typeof storingServices)[number], ...notes: string[]): Promise<Sql> {
  const sql = openDatabase(database.urls[service], service, silent)
  const texts = [
    new URL('./migrations/0001-event-store.sql', import.meta.url),
    new URL('0001-tables.sql', folderOf(service)),
  ]
  await sql.begin(async (transaction) => {
    await findOperatorClasses(transaction)
    for (const text of texts) await transaction.unsafe(readFileSync(text, 'utf8'))
    await transaction`create table migrations (name text primary key, applied_at timestamptz not null default now())`
    for (const name of ['schema.sql', ...notes]) await transaction`insert into migrations (name) values (${name})`
  })
  return sql
}

const notes = ['release 0.3 after 0.2', 'release 0.3000 after 0.3']
const namesIn = async (sql: Sql) =>
  (await sql<{ name: string }[]>`select name from migrations order by name`).map(({ name }) => name)

describe.each(storingServices)('the tables of 0.3 of %s', (service) => {
  test('are those that the files of today make', async () => {
    const sql = await make03(service)
    expect(hashOf(await describeSchema(sql))).toBe(schemasOf03[`roster_${service}`])
    await sql.end()
  })

  test('are taken over as they are, with their rows', async () => {
    const sql = await make03(service, ...notes)
    await sql`insert into subject_keys (subject_id, wrapped) values ('one', '\\x00')`
    await sql`insert into sealing (phase, secret) values ('on', '\\x00')`
    for (let start = 0; start < 2; start++) await migrate(sql, folderOf(service), silent)
    expect(await sql`select subject_id from subject_keys`).toEqual([{ subject_id: 'one' }])
    const names = await namesIn(sql)
    expect(names).toEqual(
      expect.arrayContaining([...filesOf03, 'release 0.3 after 0.2', `release ${roster.release} after 0.3`]),
    )
    expect(names).not.toContain(notes[1])
    await sql.end()
  })
})

describe('is refused in one sentence, and nothing changes:', () => {
  const differing = /^Roster \S+ cannot start, because the tables of roster_grants are not as 0\.3\.0 makes them: .*\.$/
  const cases: [string, string, RegExp, string[]?][] = [
    ['a table more', 'create table more (x int)', differing],
    ['a column more', 'alter table projects add more int', differing],
    ['another default', 'alter table audit_chain alter column epoch set default 2', differing],
    ['a missing index', 'drop index projects_by_age', differing],
    ['a missing constraint', 'alter table audit_chain drop constraint audit_chain_only_row_check', differing],
    ['a trigger', `create trigger fires before update on projects for each row execute function suppress_redundant_updates_trigger()`, differing], // prettier-ignore
    ['data of people in plain', `insert into sealing (phase, secret) values ('begun', '\\x00')`, /has data of people that is not encrypted: .*\.$/], // prettier-ignore
    ['a database of 0.2', 'alter table events drop column traceparent', /its database was upgraded by 0\.2, which .*\.$/, ['release 0.2 after 0.1']], // prettier-ignore
  ]
  test.each(cases)('%s', async (_, change, sentence, ran = notes) => {
    const sql = await make03('grants', ...ran)
    await sql.unsafe(change)
    const before = [await describeSchema(sql), await namesIn(sql)]
    await expect(migrate(sql, folderOf('grants'), silent)).rejects.toThrow(sentence)
    expect([await describeSchema(sql), await namesIn(sql)]).toEqual(before)
    await sql.end()
  })
})
