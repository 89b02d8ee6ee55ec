import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { openDatabase } from '#lib/eventstore/database'
import { migrate } from '#lib/eventstore/migrate'
import { createDatabase } from '#test/support/database'
import { silent } from '#test/support/rpc'

const migrations = new URL('./migrations/', import.meta.url)

test('providers from before there was a search are found, under the names that are compared', async () => {
  const database = await createDatabase()
  const sql = openDatabase(database.urls.idp, 'idp', silent)
  const folder = await mkdtemp(join(tmpdir(), 'roster-migrations-'))
  await cp(new URL('0001-idp.sql', migrations), join(folder, '0001-idp.sql'))
  await migrate(sql, pathToFileURL(`${folder}/`), silent)
  await sql`
    insert into aggregates values
      ('idp', 'one', 'roster', 1, now(), now(), ${sql.json({ name: 'ＩΣ', oidc: {} })})
  `
  await sql`insert into unique_keys values ('idp_name', '', 'iς', 'one')`
  await migrate(sql, migrations, silent)
  expect(await sql`select idp_id, organization_id, name, canonical_name, protocol, inactive from idps`).toEqual([
    {
      idp_id: 'one',
      organization_id: 'roster',
      name: 'ＩΣ',
      canonical_name: 'iς',
      protocol: 'oidc',
      inactive: false,
    },
  ])
  await sql.end()
  await database.drop()
  await rm(folder, { recursive: true })
})
