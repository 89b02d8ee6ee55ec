import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { authenticate } from '../../internal/authenticate.ts'
import { updateLoginPolicy } from '../../sessions/operations/settings/update-login-policy.ts'
import { restoreUser } from '../operations/user/restore-user.ts'
import { removedUntil } from '../states/removed-user.ts'
import { callIn } from '../../testing/test-users.ts'
import { hashToken } from '../tokens/token.ts'
import { openOrganizations, reasonOf, soon } from './testing/organizations.ts'

const organizations = await openOrganizations()
const { users, own, happens, hasState, addMachine, addHuman, signIn, held } = organizations
beforeEach(() => organizations.begin())
afterAll(() => organizations.stop())

const living = async () =>
  (
    await users.sql`
    select 1 from aggregates
    where type = 'user' and not state ? 'removed' and organization_id = ${own.organizationId}
  `
  ).length

test('the users of a removed organization are removed once, by events that name its removal as their cause', async () => {
  await addHuman(`${own.organizationId}-human`)
  const { sessionToken } = await signIn(`${own.organizationId}-human`)
  await Promise.all(Array.from({ length: 150 }, (_, i) => addMachine(`${own.organizationId}-${i}`)))
  const mine = own.organizationId
  own.organizationId = 'org-other'
  await addMachine('stays')
  own.organizationId = mine
  const cause = await happens('removed', 2)
  await vi.waitFor(async () => expect(await living()).toBe(0), soon)
  const events = await users.sql`
    select creator, request_id, cause, count(*)::int as number, count(distinct aggregate_id)::int as users from events
    where aggregate_type = 'user' and type = 'removed' and organization_id = ${own.organizationId} group by 1, 2, 3
  `
  expect(events).toEqual([{ creator: 'boss', request_id: 'r', cause, number: 151, users: 151 }])
  expect(await users.sql`select 1 from forgettings where organization_id = ${own.organizationId}`).toHaveLength(151)
  expect(await users.sql`select 1 from tokens where organization_id = ${own.organizationId}`).toHaveLength(0)
  expect(await users.sql`select 1 from unique_keys where scope = ${own.organizationId}`).toHaveLength(0)
  await expect(authenticate(users, { tokenHash: hashToken(sessionToken) }, callIn(''))).rejects.toThrow('not valid')
  expect(await reasonOf(addMachine(`${own.organizationId}-late`))).toBe('ORGANIZATION_NOT_FOUND')
  expect(await reasonOf(addHuman(`${own.organizationId}-late`))).toBe('ORGANIZATION_NOT_FOUND')
  const policy = updateLoginPolicy.handle(users, { settings: undefined }, callIn(own.organizationId))
  expect(await reasonOf(policy)).toBe('ORGANIZATION_NOT_FOUND')
  expect((await users.store.load('user', 'stays'))?.state).not.toHaveProperty('removed')
})

const removeUntilTomorrow = (userId: string) =>
  users.store.execute({
    aggregate: { type: 'user', id: userId },
    call: callIn(own.organizationId),
    decide: () => removedUntil(new Date(Date.now() + 86_400_000)),
  })

test('users who wait to be erased are erased with their organization, and those of others wait on', async () => {
  const ids = Array.from({ length: 160 }, (_, i) => `${own.organizationId}-${i}`)
  await Promise.all(ids.map((id) => addMachine(id)))
  const waiting = ids.filter((_, i) => i % 2 === 0)
  await Promise.all(waiting.map(removeUntilTomorrow))
  const mine = own.organizationId
  own.organizationId = `${mine}-other`
  const other = `other-of-${mine}`
  await addMachine(other)
  await removeUntilTomorrow(other)
  own.organizationId = mine
  const cause = await happens('removed', 2)
  const readable = async () =>
    (await users.sql`select subject_id from subject_keys where subject_id = any(${ids}::text[])`).length
  await vi.waitFor(async () => expect(await readable()).toBe(0), soon)
  const ends = await users.sql`
    select type, creator, cause, count(*)::int as number from events
    where organization_id = ${own.organizationId} and aggregate_type = 'user' and cause is not null
    group by 1, 2, 3 order by 1
  `
  expect(ends).toEqual([
    { type: 'forgotten', creator: 'boss', cause, number: 80 },
    { type: 'removed', creator: 'boss', cause, number: 80 },
  ])
  expect(await users.sql`select 1 from unique_keys where scope = ${own.organizationId}`).toHaveLength(0)
  expect(await users.sql`select 1 from forgettings where organization_id = ${mine} and forget_at is not null`).toEqual(
    [],
  )
  expect((await users.store.load('user', waiting[0]!))?.state).toEqual({ userName: '', removed: true })
  expect(await reasonOf(restoreUser(users, { userId: waiting[0]! }, callIn(mine)))).toBe('USER_NOT_FOUND')
  expect((await users.store.load('user', other))?.state).toHaveProperty('former')
})

test('users whom no key decrypts are erased with their organization, also where no search finds them', async () => {
  const ids = ['lost', 'broken', 'unfound', 'waiting', 'healthy'].map((name) => `${own.organizationId}-${name}`)
  for (const id of ids) await addHuman(id)
  const [lost, broken, unfound, waiting] = ids
  await removeUntilTomorrow(waiting!)
  await users.sql`delete from subject_keys where subject_id in (${lost!}, ${unfound!}, ${waiting!})`
  await users.sql`update subject_keys set wrapped = '\\x00' where subject_id = ${broken!}`
  // A backup may leave these out, and they are not made again for a user whom no key decrypts.
  for (const table of ['found_users', 'found_addresses'])
    await users.sql`delete from ${users.sql(table)} where user_id = ${unfound!}`
  await happens('removed', 2)
  const states = () => users.sql`select distinct state from aggregates where type = 'user' and id = any(${ids})`
  await vi.waitFor(async () => expect(await states()).toEqual([{ state: { userName: '', removed: true } }]), soon)
  for (const table of ['found_users', 'found_addresses', 'passwords', 'tokens', 'known_addresses', 'unsent_mails'])
    expect(await users.sql`select from ${users.sql(table)} where user_id = any(${ids})`, table).toHaveLength(0)
  expect(await users.sql`select from subject_keys where subject_id = any(${ids})`).toHaveLength(0)
  expect(await users.sql`select from unique_keys where scope = ${own.organizationId}`).toHaveLength(0)
  const done = await users.sql`select from forgettings where user_id = any(${ids}) and forget_at is null`
  expect(done).toHaveLength(ids.length)
})

test('a user who was decided before the removal and would be stored after it is refused', async () => {
  const { context, arrived, release } = held()
  const late = reasonOf(addMachine(`${own.organizationId}-late`, context))
  await arrived
  await happens('removed', 2)
  await hasState('removed')
  release()
  expect(await late).toBe('ORGANIZATION_NOT_FOUND')
})

test('of users who are added beside the removal, each is refused or removed', async () => {
  let added = 0
  const addUntilRefused = async (lane: number) => {
    for (let n = 0; ; n++) {
      const reason = await reasonOf(addMachine(`${own.organizationId}-${lane}-${n}`))
      if (reason !== 'ok') return reason
      added++
    }
  }
  const adding = Promise.all(Array.from({ length: 8 }, (_, lane) => addUntilRefused(lane)))
  await vi.waitFor(() => expect(added).toBeGreaterThan(20), soon)
  await happens('removed', 2)
  expect(new Set(await adding)).toEqual(new Set(['ORGANIZATION_NOT_FOUND']))
  // There may be thousands of them.
  await vi.waitFor(async () => expect(await living()).toBe(0), { timeout: 45_000 })
})
