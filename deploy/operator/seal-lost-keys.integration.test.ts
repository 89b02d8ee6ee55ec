import { afterAll, beforeAll, expect, test } from 'vitest'
import { testServers } from '#test/support/servers'
import { sealedNote } from '#lib/eventstore/releases'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { runOperator } from '#test/support/operator'
import { addHumanUser } from '../../services/users/operations/user/add-human-user.ts'
import { removedUser } from '../../services/users/states/removed-user.ts'
import { startSealingUsers } from '../../services/users/start-sealing-users.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../services/users/test-users.ts'
import type { User } from '../../services/users/vocabulary/user.ts'

let database: TestDatabase
let users: TestUsers
let domains: Awaited<ReturnType<typeof serveDomains>>
const call = () => callIn('acme')
const healthy = ['a-healthy', 'z-healthy']
const hindering = ['c-restored', 'd-removed']

beforeAll(async () => {
  database = await createDatabase()
  domains = await serveDomains({})
  users = await openUsers(database.urls.users)
  // As a database of the release before.
  await users.sql`update sealing set phase = 'off'`
  await users.sql`delete from migrations where name = ${sealedNote}`
  users.personal.phase = 'off'
  for (const userId of [...healthy, ...hindering, 'b-lost'])
    await addHumanUser.handle(
      users,
      {
        userId,
        userName: `${userId}-name`,
        profile: { firstName: 'Plain-First', lastName: 'L', preferredLanguage: '', gender: 0 },
        email: { email: `${userId}@mail.example`, verification: { $case: 'isVerified', value: true } },
      },
      call(),
    )
})
afterAll(async () => {
  await users?.stop()
  await domains?.stop()
  await database?.drop()
})

function seal() {
  return runOperator(['seal', '--yes'], {
    ROSTER_OPERATOR_DATABASE_URL: (database.urls as Record<string, string>)['operator']!,
    ROSTER_OPERATOR_NATS_URL: testServers().natsUrl.operator,
  })
}

const plainUsers = async () => {
  const rows = await users.sql<{ id: string }[]>`
    select distinct aggregate_id as id from events where payload::text like '%Plain-First%' order by 1
  `
  return rows.map(({ id }) => id)
}
const keyOf = (id: string) => users.sql`select from subject_keys where subject_id = ${id}`

test('users whose key is lost are passed over and named, and the others are sealed', async () => {
  const { sql } = users
  for (const id of hindering) await sql`insert into subject_keys (subject_id, wrapped) values (${id}, '\\x00')`
  await sql`update aggregates set state = '{"$sealed":"AAAA"}' where type = 'user' and id = 'b-lost'`
  await sql`update events set payload = '{"$sealed":"AAAA"}' where aggregate_id = 'b-lost'`
  expect(await plainUsers()).toEqual([...healthy, ...hindering].toSorted())
  const sealing = startSealingUsers(users, 0)
  try {
    const first = await seal()
    expect(first.status).toBe(1)
    expect(first.out).toContain('of them: 3 users, such as c-restored, d-removed, b-lost.')
    expect(first.out).toContain('2 of them, named first, still have rows in plain.')
    expect(await plainUsers()).toEqual(hindering)
    expect(await sql`select phase from sealing`).toEqual([{ phase: 'begun' }])
    // It gets no other key: the first one may come back.
    expect(await keyOf('b-lost')).toHaveLength(0)

    await sql`delete from subject_keys where subject_id = 'c-restored'`
    await users.store.execute({
      aggregate: { type: 'user', id: 'd-removed' },
      call: call(),
      decide: ({ state, organizationId }) => removedUser(state as User, organizationId),
    })
    const second = await seal()
    expect(second.status).toBe(1)
    expect(second.out).toMatch(/^All is sealed\.\nPassed over .* 1 users, such as b-lost\.\n$/)
    expect(await plainUsers()).toEqual([])
    expect(await sql`select phase from sealing`).toEqual([{ phase: 'on' }])
    expect(await keyOf('b-lost')).toHaveLength(0)
  } finally {
    await sealing.stop()
  }
})
