import type { JsonObject } from '@bufbuild/protobuf'
import { connect, type JetStreamManager, type NatsConnection } from 'nats'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { streamName } from '#lib/events/stream'
import { operatorSettings, type Ran, runOperator } from '#test/support/operator'
import { callGrpc } from '../../../test/e2e/clients/grpc.ts'
import type { Operation } from '../../../test/examples/contract.ts'
import { addEveryObject, type EveryObject } from '../../../test/examples/every-object.ts'
import { ok, profile, unique, uniqueEmail } from '../../../test/examples/people.ts'
import { type House, startHouse } from '../../../test/house.ts'
import { startTestServers } from '../../../test/infra.ts'

let started: Awaited<ReturnType<typeof startTestServers>>
let house: House
let admin: postgres.Sql
let nats: NatsConnection
let manager: JetStreamManager
let all: EveryObject

beforeAll(async () => {
  started = await startTestServers()
  const { servers } = started
  house = await startHouse(servers.serviceDatabaseUrls, { WRITES_PER_CALLER: '100000' }, { servers, replicas: 2 })
  admin = postgres(servers.databaseUrl, { max: 2, onnotice: () => {} })
  const { host, username, password } = new URL(servers.natsUrl.admin)
  nats = await connect({ servers: host, user: username, pass: password })
  manager = await nats.jetstreamManager()
  const caller = { url: house.url, token: house.adminToken }
  all = await addEveryObject(callGrpc, caller, 'https://hooks.example.com/')
  const removed = await addEveryObject(callGrpc, caller, 'https://hooks.example.com/')
  await act('RemoveOrganization', { orgId: removed.values['orgId']! })
}, 120_000)
afterAll(async () => {
  await house?.stop()
  await admin?.end()
  await nats?.close()
  await started?.stop()
})

const roster = (...args: string[]): Promise<Ran> => runOperator(args, operatorSettings(started.servers))
const act = async (operation: Operation, request: JsonObject, organization?: string) =>
  ok(await callGrpc(operation, request, { url: house.url, token: house.adminToken, organization }))

/** Users, members and grants come, change and go until the signal. */
async function writeUntil(over: AbortSignal): Promise<number> {
  const { organizationId, projectId } = all.values as { organizationId: string; projectId: string }
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
  await Promise.all(Array.from({ length: 6 }, one))
  return writes
}

test('a healthy Roster has nothing that differs, under load and afterwards', async () => {
  const over = new AbortController()
  const writing = writeUntil(over.signal)
  try {
    for (let i = 0; i < 5; i++) {
      const { status, out, err } = await roster('verify')
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
  await vi.waitFor(async () => expect((await roster('verify')).out).toBe('Nothing differs.\n'), { timeout: 20_000 })
})

describe('verify names the row, and ends with 1, after by hand', () => {
  const first = async (service: string, table: string, where = 'true') => {
    const [row] = await admin.unsafe(`select * from roster_${service}.${table} where ${where} limit 1`)
    return row ?? expect.fail(`${table} has no row where ${where}`)
  }

  async function expectNamed(row: string, problem: string, ...more: string[]) {
    const lines = [`${row}: ${problem}`, ...more].toSorted()
    const { status, out } = await roster('verify')
    const found = out.trimEnd().split('\n')
    expect({ status, lines: found.slice(0, -1).toSorted() }).toEqual({ status: 1, lines })
    expect(found.at(-1)).toBe(`${lines.length} rows differ.`)
  }

  /** Changes rows by hand, and back again after `work`. */
  async function altered(service: string, table: string, change: string, where: string, work: () => Promise<void>) {
    const from = `roster_${service}.${table}`
    const before = await admin.unsafe(`select to_jsonb(t) as row from ${from} t where ${where}`)
    await admin.unsafe(
      `${change.startsWith('delete') ? `delete from ${from}` : `update ${from} ${change}`} where ${where}`,
    )
    try {
      await work()
    } finally {
      await admin.unsafe(`delete from ${from} where ${where}`)
      await admin.unsafe(
        `insert into ${from} overriding system value select * from jsonb_populate_recordset(null::${from}, $1::text::jsonb)`,
        [JSON.stringify(before.map(({ row }) => row))],
      )
    }
  }

  test.each([
    ['sealed state', `set state = '{"$sealed":"${'A'.repeat(64)}"}'`, 'its sealed state cannot be opened'],
    ['sequence', 'set sequence = sequence + 1', 'its sealed state cannot be opened'],
    ['time', `set changed_at = changed_at + interval '1 ms'`, 'changedAt: not what its events say'],
  ])('an aggregate got another %s', async (_, change, problem) => {
    const id = String(all.values['userId'])
    await altered('users', 'aggregates', change, `id = '${id}' and type = 'user'`, () =>
      expectNamed(`users: aggregates type="user" id="${id}"`, problem),
    )
  })

  test.each([
    ['users', 'found_users', 'user_id', `set display_name = 'x'`, 'display_name'],
    ['users', 'found_addresses', 'user_id', `set email = 'x'`, 'email'],
    ['grants', 'projects', 'project_id', `set name = 'x'`, 'name'],
    ['grants', 'project_grants', 'grant_id', `set role_keys = '{}'`, 'role_keys.0'],
    ['grants', 'user_grants', 'grant_id', 'set inactive = true', 'inactive'],
    ['grants', 'organizations', 'organization_id', `set primary_domain = 'x'`, 'primary_domain'],
    ['idp', 'idps', 'idp_id', `set name = 'x'`, 'name'],
    ['notifier', 'webhooks', 'webhook_id', `set url = 'https://evil.example'`, 'url'],
  ])('a row of %s.%s was altered', async (service, table, key, change, column) => {
    const row = await first(service, table)
    await altered(service, table, change, `${key} = '${row[key]}'`, () =>
      expectNamed(`${service}: ${table} ${key}="${row[key]}"`, `${column}: not what the events say`),
    )
  })

  test('roles of a membership were altered', async () => {
    const { user_id, organization_id } = await first('grants', 'memberships', `organization_id <> 'default'`)
    const where = `user_id = '${user_id}' and organization_id = '${organization_id}'`
    await altered('grants', 'memberships', `set roles = '{IAM_NOTHING}'`, where, () =>
      expectNamed(
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
    const row = await first(service, table)
    const where = key.map((column) => `${column} = '${row[column]}'`).join(' and ')
    const name = key.map((column) => `${column}="${row[column]}"`).join(' ')
    await altered(service, table, 'delete', where, () => expectNamed(`${service}: ${table} ${name}`, 'it is missing'))
  })

  test.each([
    ['users', 'found_users', 'user_id'],
    ['grants', 'memberships', 'user_id'],
    ['idp', 'idps', 'idp_id'],
  ])('a row was added to %s.%s', async (service, table, key) => {
    const from = `roster_${service}.${table}`
    const row = await first(service, table)
    const copied = await admin.unsafe(`
      insert into ${from} select (jsonb_populate_record(t, '{"${key}":"stranger"}')).* from ${from} t
      where ${key} = '${row[key]}'
    `)
    try {
      const { status, out } = await roster('verify', service)
      expect(status).toBe(1)
      expect(out.match(/: it belongs to no object$/gm)).toHaveLength(copied.count)
      expect(out).toContain(`${service}: ${table} ${key}="stranger"`)
    } finally {
      await admin.unsafe(`delete from ${from} where ${key} = 'stranger'`)
    }
  })

  test('a unique key was removed, or another took it', async () => {
    const where = `kind = 'user_name' and aggregate_id = '${all.values['userId']}'`
    const row = `users: aggregates type="user" id="${all.values['userId']}"`
    await altered('users', 'unique_keys', 'delete', where, () =>
      expectNamed(row, 'the unique key of kind user_name is missing'),
    )
    const { scope } = await first('users', 'unique_keys', where)
    const after = `kind = 'user_name' and aggregate_id = 'thief'`
    await admin.unsafe(`update roster_users.unique_keys set aggregate_id = 'thief' where ${where}`)
    await expectNamed(
      row,
      'another one holds the unique key of kind user_name: thief',
      `users: unique_keys kind="user_name" scope="${scope}" aggregate_id="thief": its holder has no such key`,
    )
    await admin.unsafe(`update roster_users.unique_keys set aggregate_id = '${all.values['userId']}' where ${after}`)
  })

  test('an event was altered', async () => {
    const { position, aggregate_id } = await first('users', 'events', `type = 'human.added'`)
    const change = `set payload = payload || jsonb_build_object('isVerified', not (payload ->> 'isVerified')::boolean)`
    const { seq, subject } = await messageOf(`users-${position}`)
    await altered('users', 'events', change, `position = ${position}`, async () => {
      const { status, out } = await roster('verify')
      expect(status).toBe(1)
      expect(out).toContain(
        `users: stream ${streamName} seq=${seq} subject="${subject}": data.isVerified: not what event users-${position} of the database says\n`,
      )
      expect(out).toContain(`users: aggregates type="user" id="${aggregate_id}": state.human.isVerified: `)
    })
    await altered(
      'users',
      'events',
      `set payload = payload || '{"$sealed":"AAAA"}'`,
      `position = ${position}`,
      async () => {
        const { status, out } = await roster('verify')
        expect(status).toBe(1)
        expect(out).toContain(`users: events position=${position}: its sealed part cannot be opened\n`)
      },
    )
  })

  test('an event was removed', async () => {
    const { position, aggregate_id } = await first('grants', 'events', `aggregate_type = 'project' and sequence = 1`)
    const { seq, subject } = await messageOf(`grants-${position}`)
    await altered('grants', 'events', 'delete', `position = ${position}`, async () => {
      const { status, out } = await roster('verify')
      expect(status).toBe(1)
      expect(out).toMatch(
        new RegExp(`^grants: aggregates type="project" id="${aggregate_id}": event 1 is missing$`, 'm'),
      )
      expect(out).toContain(
        `grants: stream ${streamName} seq=${seq} subject="${subject}": the database has no event grants-${position}\n`,
      )
    })
  })

  test('an aggregate was removed', async () => {
    const { id } = await first('idp', 'aggregates', `type = 'idp'`)
    await altered('idp', 'aggregates', 'delete', `id = '${id}'`, async () => {
      const { status, out } = await roster('verify', 'idp')
      expect(status).toBe(1)
      expect(out).toContain(`aggregates has no row for its object, idp ${id}`)
      expect(out).toContain(`idp: idps idp_id="${id}": it belongs to no object`)
    })
  })

  async function messageOf(id: string) {
    const { state } = await manager.streams.info(streamName)
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage(streamName, { seq }).catch(() => undefined)
      if (message?.header.get('ce-id') === id) return message
    }
    return expect.fail(`the stream has no ${id}`)
  }

  test('a message was forged that names a position far beyond every event', async () => {
    const { position } = await first('users', 'events', `type = 'machine.added'`)
    const message = await messageOf(`users-${position}`)
    for (const name of ['Nats-Msg-Id', 'Nats-Expected-Last-Msg-Id']) message.header.delete(name)
    message.header.set('ce-id', 'users-999999999999999')
    const { seq } = await nats.jetstream().publish(message.subject, message.data, { headers: message.header })
    await expectNamed(
      `users: stream ${streamName} seq=${seq} subject="${message.subject}"`,
      'the database has no event users-999999999999999',
    )
    await manager.streams.deleteMessage(streamName, seq)
  })

  test('a message was removed from the stream, and after a forged one took its place', async () => {
    const { position } = await first('users', 'events', `type = 'machine.added'`)
    const message = await messageOf(`users-${position}`)
    await manager.streams.deleteMessage(streamName, message.seq)
    await expectNamed(`users: events position=${position}`, 'the stream does not have it')
    const forged = { ...message.json<object>(), name: 'Mallory' }
    for (const name of ['Nats-Msg-Id', 'Nats-Expected-Last-Msg-Id']) message.header.delete(name)
    const { seq } = await nats.jetstream().publish(message.subject, JSON.stringify(forged), { headers: message.header })
    await expectNamed(
      `users: stream ${streamName} seq=${seq} subject="${message.subject}"`,
      `data.name: not what event users-${position} of the database says`,
    )
    await manager.streams.deleteMessage(streamName, seq)
    expect((await roster('verify', '--without-stream')).status).toBe(0)
  })
})
