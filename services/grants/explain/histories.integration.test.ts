import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type Sql } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { silent } from '#test/support/counters'
import { model } from '../model.ts'
import type { Member } from '../vocabulary/member.ts'
import type { UserGrant } from '../vocabulary/user-grant.ts'
import { readHistories } from './histories.ts'
import { showEvents } from './show-events.ts'
import { sightOf } from './sight.ts'
import { anonymous } from '#lib/rpc/caller'

let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await createDatabase()
  sql = openDatabase(database.urls.grants, 'grants', silent)
  await migrate(sql, new URL('../migrations/', import.meta.url), silent, model)
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})

const asker = { organizationId: 'home' }

async function store(type: string, id: string, events: [type: string, payload: object][]): Promise<void> {
  const rows = JSON.stringify(events.map(([kind, payload], index) => ({ kind, payload, sequence: index + 1 })))
  await sql`
    insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
    select ${type}, ${id}, sequence, kind, payload, 'abroad', '', '', now()
    from jsonb_to_recordset(${rows}::text::jsonb) as r (kind text, payload jsonb, sequence bigint)
    order by sequence
  `
}
const times = <T>(number: number, make: (index: number) => T) =>
  Array.from({ length: number }, (_, index) => make(index))

test('a membership that strangers changed ten thousand times stands in the way of no other', async () => {
  const roles = (index: number) => [index % 2 === 0 ? 'ORG_OWNER' : 'ORG_OWNER_VIEWER']
  const changed = (index: number): [string, object] => ['changed', { userId: 'ada', roles: roles(index) }]
  await store('member', 'foreign', [
    ['added', { userId: 'ada', roles: [] }],
    ...times(10_000, changed),
    ['removed', {}],
  ])
  await store('member', 'own', [['added', { userId: 'ada', roles: ['ORG_OWNER'] }]])
  const keys = ['foreign', 'own'].map((id) => ({ type: 'member', id }))
  const read = await readHistories(sql, asker, { keys, until: undefined })
  expect(read<Member>('member', 'own')).toMatchObject({ before: undefined, state: { roles: ['ORG_OWNER'] } })
  const { steps, before, state } = read<Member>('member', 'foreign')
  expect(state).toEqual({ userId: 'ada', roles: ['ORG_OWNER_VIEWER'], removed: true })
  expect(before).toEqual({ userId: 'ada', roles: [] })
  expect([steps.length, steps[0]!.event.type, steps[0]!.state.roles]).toEqual([50, 'changed', ['ORG_OWNER_VIEWER']])
})

test('of a long history, the state before its newest events is known, now and as of then', async () => {
  const added: [string, object] = ['added', { userId: 'ada', projectId: 'shop', projectGrantId: '', roleKeys: ['a'] }]
  const changed = (key: string): [string, object] => ['changed', { roleKeys: [key] }]
  const toggles = times(200, (index): [string, object] => [index % 2 === 0 ? 'reactivated' : 'deactivated', {}])
  await store('user_grant', 'long', [added, changed('b'), ['deactivated', {}], changed('seller'), ...toggles])
  await store('user_grant', 'other', [added, ['deactivated', {}], ...times(100, (index) => changed(`k${index}`))])
  const keys = ['long', 'other'].map((id) => ({ type: 'user_grant', id }))
  const read = await readHistories(sql, asker, { keys, until: undefined })
  const long = read<UserGrant>('user_grant', 'long')
  expect(long.before).toMatchObject({ roleKeys: ['seller'], inactive: true })
  expect(long.steps.map(({ state }) => state.inactive === true)).toEqual(times(50, (index) => index % 2 === 1))
  const sold = showEvents(
    long,
    ({ roleKeys }) => roleKeys.includes('seller'),
    sightOf({ caller: anonymous, organizationId: '' }, 'ada'),
  )
  expect(sold.map(({ effect, type }) => [effect, type])).toEqual([[0, expect.stringContaining('deactivated')]])
  expect(new Set(long.steps.flatMap(({ state }) => state.roleKeys))).toEqual(new Set(['seller']))
  expect(read<UserGrant>('user_grant', 'other').state).toMatchObject({ roleKeys: ['k99'], inactive: true })

  // It gave the role before its newest events already, so the first of them, if it took the role, shows so.
  const [first] = long.steps.slice(1)
  const { position, transaction_id: transactionId } = long.steps[0]!.event
  const until = { place: { transactionId, position }, time: first!.event.created_at }
  const then = (await readHistories(sql, asker, { keys, until }))<UserGrant>('user_grant', 'long')
  expect([then.steps.length, then.state]).toMatchObject([50, { roleKeys: ['seller'], inactive: undefined }])
  const shown = showEvents(
    then,
    ({ inactive }) => inactive !== true,
    sightOf({ caller: anonymous, organizationId: '' }, 'ada'),
  )
  expect(shown.map(({ effect }) => effect)).toEqual(times(20, (index) => (index % 2 === 0 ? 2 : 1)))
})
