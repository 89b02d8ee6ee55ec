import type { JsonObject } from '@bufbuild/protobuf'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type AlteredHouse, startAlteredHouse } from '#test/support/altered-house'
import { callGrpc } from '../../../test/e2e/clients/grpc.ts'
import type { Operation } from '../../../test/examples/contract.ts'
import { ok, profile, unique, uniqueEmail } from '../../../test/examples/people.ts'

let there: AlteredHouse

beforeAll(async () => {
  there = await startAlteredHouse()
}, 120_000)
afterAll(() => there?.stop())

const act = async (operation: Operation, request: JsonObject, organization?: string) =>
  ok(await callGrpc(operation, request, { url: there.house.url, token: there.house.adminToken, organization }))

describe('verify names the row, and ends with 1, after by hand', () => {
  test.each([
    ['sealed state', `set state = '{"$sealed":"${'A'.repeat(64)}"}'`, 'its sealed state cannot be opened'],
    ['sequence', 'set sequence = sequence + 1', 'its sealed state cannot be opened'],
    ['time', `set changed_at = changed_at + interval '1 ms'`, 'changedAt: not what its events say'],
  ])('an aggregate got another %s', async (_, change, problem) => {
    const id = String(there.all.values['userId'])
    await there.altered('users', 'aggregates', change, `id = '${id}' and type = 'user'`, () =>
      there.expectNamed(`users: aggregates type="user" id="${id}"`, problem),
    )
  })

  test.each([
    ['users', 'found_users', 'user_id', `set display_name = 'x'`, 'display_name'],
    ['users', 'found_addresses', 'user_id', `set email = 'x'`, 'email'],
    ['users', 'found_addresses', 'user_id', `set exact = '{}'`, 'exact.human'],
    ['users', 'found_users', 'user_id', 'set exact = null', 'exact'],
    ['users', 'found_users', 'user_id', `set exact = exact || '{"userName":"x"}'`, 'exact.userName'],
    ['grants', 'projects', 'project_id', `set name = 'x'`, 'name'],
    ['grants', 'project_grants', 'grant_id', `set role_keys = '{}'`, 'role_keys.0'],
    ['grants', 'user_grants', 'grant_id', 'set inactive = true', 'inactive'],
    ['grants', 'organizations', 'organization_id', `set primary_domain = 'x'`, 'primary_domain'],
    ['idp', 'idps', 'idp_id', `set name = 'x'`, 'name'],
    ['notifier', 'webhooks', 'webhook_id', `set url = 'https://evil.example'`, 'url'],
  ])('a row of %s.%s was altered', async (service, table, key, change, column) => {
    const row = await there.first(service, table)
    await there.altered(service, table, change, `${key} = '${row[key]}'`, () =>
      there.expectNamed(`${service}: ${table} ${key}="${row[key]}"`, `${column}: not what the events say`),
    )
  })

  test('roles of a membership were altered', async () => {
    const { user_id, organization_id } = await there.first('grants', 'memberships', `organization_id <> 'default'`)
    const where = `user_id = '${user_id}' and organization_id = '${organization_id}'`
    await there.altered('grants', 'memberships', `set roles = '{IAM_NOTHING}'`, where, () =>
      there.expectNamed(
        `grants: memberships user_id="${user_id}" organization_id="${organization_id}" project_id=""`,
        'roles.0: not what the events say',
      ),
    )
  })

  test.each([
    ['users', 'found_users', ['user_id']],
    ['grants', 'memberships', ['user_id', 'organization_id', 'project_id']],
    ['grants', 'user_grant_roles', ['project_id', 'role_key', 'organization_id', 'grant_id']],
  ])('a row of %s.%s was removed', async (service, table, key) => {
    const row = await there.first(service, table)
    const where = key.map((column) => `${column} = '${row[column]}'`).join(' and ')
    const name = key.map((column) => `${column}="${row[column]}"`).join(' ')
    await there.altered(service, table, 'delete', where, () =>
      there.expectNamed(`${service}: ${table} ${name}`, 'it is missing'),
    )
  })

  test.each([
    ['users', 'found_users', 'user_id'],
    ['grants', 'memberships', 'user_id'],
    ['idp', 'idps', 'idp_id'],
  ])('a row was added to %s.%s', async (service, table, key) => {
    const from = `roster_${service}.${table}`
    const row = await there.first(service, table)
    const copied = await there.admin.unsafe(`
      insert into ${from} select (jsonb_populate_record(t, '{"${key}":"stranger"}')).* from ${from} t
      where ${key} = '${row[key]}'
    `)
    try {
      const { status, out } = await there.roster('verify', service)
      expect(status).toBe(1)
      expect(out.match(/: it belongs to no object$/gm)).toHaveLength(copied.count)
      expect(out).toContain(`${service}: ${table} ${key}="stranger"`)
    } finally {
      await there.admin.unsafe(`delete from ${from} where ${key} = 'stranger'`)
    }
  })

  test('a unique key was removed, or another took it', async () => {
    const where = `kind = 'user_name' and aggregate_id = '${there.all.values['userId']}'`
    const row = `users: aggregates type="user" id="${there.all.values['userId']}"`
    await there.altered('users', 'unique_keys', 'delete', where, () =>
      there.expectNamed(row, 'the unique key of kind user_name is missing'),
    )
    const { scope } = await there.first('users', 'unique_keys', where)
    const after = `kind = 'user_name' and aggregate_id = 'thief'`
    await there.admin.unsafe(`update roster_users.unique_keys set aggregate_id = 'thief' where ${where}`)
    await there.expectNamed(
      row,
      'another one holds the unique key of kind user_name: thief',
      `users: unique_keys kind="user_name" scope="${scope}" aggregate_id="thief": its holder has no such key`,
    )
    await there.admin.unsafe(
      `update roster_users.unique_keys set aggregate_id = '${there.all.values['userId']}' where ${after}`,
    )
  })

  test('an aggregate was removed', async () => {
    const { id } = await there.first('idp', 'aggregates', `type = 'idp'`)
    await there.altered('idp', 'aggregates', 'delete', `id = '${id}'`, async () => {
      const { status, out } = await there.roster('verify', 'idp')
      expect(status).toBe(1)
      expect(out).toContain(`aggregates has no row for its object, idp ${id}`)
      expect(out).toContain(`idp: idps idp_id="${id}": it belongs to no object`)
    })
  })

  test.each([
    ['aggregates', { type: '', id: '' }, 'users: aggregates type="" id=""', 'it has no events'],
    ['found_users', { user_id: '' }, 'users: found_users user_id=""', 'it belongs to no object'],
    [
      'unique_keys',
      { kind: 'user_name', scope: '', key: '', aggregate_id: 'nobody' },
      'users: unique_keys kind="user_name" scope="" aggregate_id="nobody"',
      'its holder has no such key',
    ],
    [
      'unique_keys',
      { kind: 'unheard_of', scope: 'a', key: 'b', aggregate_id: 'nobody' },
      'users: unique_keys kind="unheard_of" scope="a" aggregate_id="nobody"',
      'its holder has no such key',
    ],
    [
      'unique_keys',
      { kind: '', scope: '', key: '', aggregate_id: '' },
      'users: unique_keys kind="" scope="" aggregate_id=""',
      'its holder has no such key',
    ],
  ])('%s got a row of an empty key or an unknown kind: %j', (table, row, name, problem) =>
    there.added('users', table, row, () => there.expectNamed(name, problem)),
  )
})

/** Users, members and grants come, change and go until the signal. */
async function writeUntil(over: AbortSignal): Promise<number> {
  const { organizationId, projectId } = there.all.values as { organizationId: string; projectId: string }
  let writes = 0
  const one = async () => {
    while (!over.aborted) {
      const own = (operation: Operation, request: JsonObject) => act(operation, request, organizationId)
      const { userId } = await own('AddHumanUser', {
        userName: unique('human'),
        profile,
        email: { email: uniqueEmail() },
      })
      await own('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] })
      const { userGrantId } = await own('AddUserGrant', { userId, projectId, roleKeys: ['reader'] })
      await own('SetEmail', { userId, email: uniqueEmail() })
      await own('UpdateUserName', { userId, userName: unique('renamed') })
      await own('RemoveOrganizationMember', { userId })
      await own('AddOrganizationMember', { userId, roles: ['ORG_USER_MANAGER'] })
      await own('RemoveUserGrant', { userId, grantId: userGrantId })
      await own('DeleteUser', { userId })
      const { id } = await own('AddProject', { name: unique('Project') })
      await own('AddProjectRole', { projectId: id, roleKey: 'one', displayName: 'One' })
      await own('RemoveProject', { projectId: id })
      writes += 12
    }
  }
  await Promise.all(Array.from({ length: 3 }, one))
  return writes
}

test('a healthy Roster has nothing that differs, under load and afterwards', async () => {
  const over = new AbortController()
  const writing = writeUntil(over.signal)
  try {
    for (let i = 0; i < 3; i++) {
      const { status, out, err } = await there.roster('verify')
      expect({ status, out, err: err.replace(/^(stream|users|grants|idp|notifier): .*\n/gm, '') }).toEqual({
        status: 0,
        out: 'Nothing differs.\n',
        err: '',
      })
    }
  } finally {
    over.abort()
    expect(await writing).toBeGreaterThan(100)
  }
  await vi.waitFor(async () => expect((await there.roster('verify')).out).toBe('Nothing differs.\n'), {
    timeout: 20_000,
  })
})
