import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { erasable } from '#lib/outbox/erase-in-stream'
import { deletedWithUser, partTypes, tablesOfUsers } from './personal-data.ts'

test('the keeper of the stream erases all that is about a user, and nothing else', () => {
  expect(erasable).toEqual({ users: expect.any(Array) })
  expect(erasable['users']!.toSorted()).toEqual(partTypes.toSorted())
})

test('each table that names a user is in the list of those that hold a person, or known not to', () => {
  const schema = readFileSync(new URL('../../migrations/schema.txt', import.meta.url), 'utf8')
  const tables = [...schema.matchAll(/^column (\w+)\.user_id /gm)].map(([, table]) => table!)
  // Credentials of machines; and the ids of removed users, which outlive them.
  const others = ['expiring_credentials', 'machine_credentials', 'machine_secrets', 'forgettings']
  expect([...tablesOfUsers, ...others].toSorted()).toEqual(tables.toSorted())
  expect(tablesOfUsers).toEqual(expect.arrayContaining(deletedWithUser))
})
