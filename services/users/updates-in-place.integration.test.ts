import { expect, test } from 'vitest'
import { createDatabase } from '#test/support/database'
import { openUsers } from './testing/test-users.ts'

test('no index looks at what a change of a user changes, so PostgreSQL updates its row in place', async () => {
  const database = await createDatabase()
  const users = await openUsers(database.urls.users)
  try {
    const found = await users.sql`
      select index.relname as index, attname as column
      from pg_depend
      join pg_attribute on attrelid = refobjid and attnum = refobjsubid
      join pg_class index on index.oid = objid and index.relkind = 'i'
      where refobjid = 'aggregates'::regclass and attname in ('sequence', 'changed_at', 'state')
    `
    expect(found).toEqual([])
  } finally {
    await users.stop()
    await database.drop()
  }
})
