import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@bufbuild/protobuf'
import { headers, type MsgHdrs, type StoredMsg } from 'nats'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { streamName } from '#lib/events/stream'
import { type AlteredHouse, startAlteredHouse } from '#test/support/altered-house'
import { callGrpc } from '../../test/e2e/clients/grpc.ts'
import type { Operation } from '../../test/examples/contract.ts'
import { ok, profile, unique, uniqueEmail } from '../../test/examples/people.ts'

let there: AlteredHouse
let userId: string

beforeAll(async () => {
  there = await startAlteredHouse()
  userId = String(there.all.values['userId'])
}, 120_000)
afterAll(() => there?.stop())

/** A change by hand, which is undone after `work`. */
type Change = (work: () => Promise<void>) => Promise<void>

const altered =
  (service: string, table: string, change: string, where: string): Change =>
  (work) =>
    there.altered(service, table, change, where, work)
const added =
  (table: string, row: object): Change =>
  (work) =>
    there.added('users', table, row, work)

/** Makes all changes at once, and expects that `verify` ends with 1 and names each of these rows, and nothing else. */
async function expectNamed(changes: Change[], lines: (string | RegExp)[]): Promise<void> {
  const look = async () => {
    const { status, out } = await there.roster('verify')
    const found = out.trimEnd().split('\n')
    const matching = (line: string | RegExp) => expect.stringMatching(typeof line === 'string' ? exactly(line) : line)
    expect(found.slice(0, -1)).toEqual(expect.arrayContaining(lines.map(matching)))
    expect(found.length - 1, out).toBe(lines.length)
    expect(status).toBe(1)
    expect(found.at(-1)).toBe(`${lines.length} rows differ.`)
  }
  await changes.reduceRight<() => Promise<void>>((work, change) => () => change(work), look)()
}

const exactly = (line: string) => new RegExp(`^${line.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)

describe('verify names each row, and no other one,', () => {
  test('that was altered', async () => {
    const of =
      (table: string, key: string) =>
      async (service: string, change: string, column: string, where = 'true') => {
        const row = await there.first(service, table, where)
        return {
          change: altered(service, table, change, `${key} = '${row[key]}'`),
          line: `${service}: ${table} ${key}="${row[key]}": ${column}: not what the events say`,
        }
      }
    const other = `user_id <> '${userId}'`
    const rows = await Promise.all([
      of('found_users', 'user_id')('users', `set display_name = 'x', exact = exact || '{"userName":"x"}'`, 'exact.userName, display_name', other), // prettier-ignore
      of('found_addresses', 'user_id')('users', `set email = 'x', exact = '{}'`, 'email, exact.human', other),
      of('projects', 'project_id')('grants', `set name = 'x'`, 'name'),
      of('project_grants', 'grant_id')('grants', `set role_keys = '{}'`, 'role_keys.0'),
      of('user_grants', 'grant_id')('grants', 'set inactive = true', 'inactive'),
      of('organizations', 'organization_id')('grants', `set primary_domain = 'x'`, 'primary_domain'),
      of('idps', 'idp_id')('idp', `set name = 'x'`, 'name'),
      of('webhooks', 'webhook_id')('notifier', `set url = 'https://evil.example'`, 'url'),
    ])
    const member = await there.first('grants', 'memberships', `organization_id <> 'default'`)
    const ofMember = `user_id = '${member['user_id']}' and organization_id = '${member['organization_id']}'`
    const { id } = await there.first('grants', 'aggregates', `type = 'project'`)
    const later = `set changed_at = changed_at + interval '1 ms'`
    await expectNamed(
      [
        ...rows.map(({ change }) => change),
        altered('grants', 'memberships', `set roles = '{IAM_NOTHING}'`, ofMember),
        altered('grants', 'aggregates', later, `type = 'project' and id = '${id}'`),
        altered('users', 'aggregates', 'set sequence = sequence + 1', `type = 'user' and id = '${userId}'`),
      ],
      [
        ...rows.map(({ line }) => line),
        `grants: memberships user_id="${member['user_id']}" organization_id="${member['organization_id']}" project_id="": roles.0: not what the events say`,
        `grants: aggregates type="project" id="${id}": changedAt: not what its events say`,
        new RegExp(`^users: aggregates type="user" id="${userId}": its state cannot be decrypted: `),
      ],
    )
  })

  test('that was removed', async () => {
    const tables: [string, string, string[]][] = [
      ['users', 'found_users', ['user_id']],
      ['grants', 'memberships', ['user_id', 'organization_id', 'project_id']],
      ['grants', 'user_grant_roles', ['project_id', 'role_key', 'organization_id', 'grant_id']],
    ]
    const rows = await Promise.all(
      tables.map(async ([service, table, key]) => {
        const row = await there.first(service, table)
        const where = key.map((column) => `${column} = '${row[column]}'`).join(' and ')
        const name = key.map((column) => `${column}="${row[column]}"`).join(' ')
        return { change: altered(service, table, 'delete', where), line: `${service}: ${table} ${name}: it is missing` }
      }),
    )
    const { idp_id: id } = await there.first('idp', 'idps')
    const events = await there.admin`select position::text from roster_idp.events where aggregate_id = ${id}`
    await expectNamed(
      [
        ...rows.map(({ change }) => change),
        altered('users', 'unique_keys', 'delete', `kind = 'user_name' and aggregate_id = '${userId}'`),
        altered('idp', 'aggregates', 'delete', `id = '${id}'`),
      ],
      [
        ...rows.map(({ line }) => line),
        `users: aggregates type="user" id="${userId}": the unique key of kind user_name is missing`,
        `idp: idps idp_id="${id}": it belongs to no object`,
        new RegExp(`^idp: unique_keys kind="idp_name" scope="[^"]*" aggregate_id="${id}": its holder has no such key$`),
        ...events.map(
          ({ position }) => `idp: events position=${position}: aggregates has no row for its object, idp ${id}`,
        ),
      ],
    )
  })

  test('that was added, or that another object took', async () => {
    const where = `kind = 'user_name' and aggregate_id = '${userId}'`
    const { scope, key } = await there.first('users', 'unique_keys', where)
    const keys = [
      { kind: 'user_name', scope: '', key: '', aggregate_id: 'no-one' },
      { kind: 'unheard_of', scope: 'a', key: 'b', aggregate_id: 'no-one' },
      { kind: '', scope: '', key: '', aggregate_id: '' },
    ]
    const nameOf = (one: { kind: string; scope: string; aggregate_id: string }) =>
      `users: unique_keys kind="${one.kind}" scope="${one.scope}" aggregate_id="${one.aggregate_id}": its holder has no such key`
    await expectNamed(
      [
        altered(
          'users',
          'unique_keys',
          `set aggregate_id = 'thief'`,
          `kind = 'user_name' and key = '${key}' and scope = '${scope}'`,
        ),
        added('aggregates', { type: '', id: '' }),
        added('found_users', { user_id: '' }),
        ...keys.map((row) => added('unique_keys', row)),
      ],
      [
        `users: aggregates type="user" id="${userId}": another one holds the unique key of kind user_name: thief`,
        nameOf({ kind: 'user_name', scope, aggregate_id: 'thief' }),
        'users: aggregates type="" id="": it has no events',
        'users: found_users user_id="": it belongs to no object',
        ...keys.map(nameOf),
      ],
    )
  })
})

describe('verify names each event and message, and no other one,', () => {
  async function findMessage(isMeant: (message: StoredMsg) => boolean): Promise<StoredMsg> {
    const { state } = await there.manager.streams.info(streamName)
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await there.manager.streams.getMessage(streamName, { seq }).catch(() => undefined)
      if (message && isMeant(message)) return message
    }
    return expect.fail('the stream has no such message')
  }
  const messageOf = (id: string) => findMessage(({ header }) => header.get('ce-id') === id)
  const named = ({ seq, subject }: { seq: number; subject: string }) =>
    `users: stream ${streamName} seq=${seq} subject="${subject}"`

  /** Publishes a message, and removes it after `work`. */
  async function published(
    subject: string,
    data: string | Uint8Array,
    all?: MsgHdrs,
  ): Promise<{ seq: number; subject: string }> {
    const { seq } = await there.nats.jetstream().publish(subject, data, all && { headers: all })
    strange.push(seq)
    return { seq, subject }
  }
  const strange: number[] = []
  const withoutStrange: Change = async (work) => {
    try {
      await work()
    } finally {
      for (const seq of strange.splice(0)) await there.manager.streams.deleteMessage(streamName, seq)
    }
  }

  /** The attributes of a message, with others for some, as a new one has them. */
  function attributes({ header }: StoredMsg, changed: Record<string, string> = {}): MsgHdrs {
    const all = headers()
    for (const name of header.keys()) if (name.startsWith('ce-')) all.set(name, header.get(name))
    for (const [name, value] of Object.entries(changed)) all.set(name, value)
    return all
  }

  test('that was altered or removed in the database', async () => {
    const human = await there.first('users', 'events', `type = 'human.added'`)
    const project = await there.first('grants', 'events', `aggregate_type = 'project' and sequence = 1`)
    const other = await there.first('users', 'events', `type = 'machine.added'`)
    const [ofHuman, ofProject] = await Promise.all([
      messageOf(`users-${human['position']}`),
      messageOf(`grants-${project['position']}`),
    ])
    const { status, out } = await new Promise<{ status: number | null; out: string }>((resolve, reject) => {
      const look = async () => resolve(await there.roster('verify'))
      altered(
        'users',
        'events',
        `set payload = payload || jsonb_build_object('isVerified', not (payload ->> 'isVerified')::boolean)`,
        `position = ${human['position']}`,
      )(() =>
        altered(
          'users',
          'events',
          `set payload = payload || '{"$sealed":"AAAA"}'`,
          `position = ${other['position']}`,
        )(() => altered('grants', 'events', 'delete', `position = ${project['position']}`)(look)),
      ).catch(reject)
    })
    expect(status).toBe(1)
    for (const line of [
      `${named(ofHuman)}: data.isVerified: not what event users-${human['position']} of the database says`,
      `users: events position=${other['position']}: its encrypted part cannot be decrypted`,
      `grants: aggregates type="project" id="${project['aggregate_id']}": event 1 is missing`,
      `${named(ofProject).replace('users', 'grants')}: the database has no event grants-${project['position']}`,
    ])
      expect(out).toContain(`${line}\n`)
    expect(out).toContain(`users: aggregates type="user" id="${human['aggregate_id']}": state.human.isVerified: `)
  })

  test('that was put into the stream, or is missing there', async () => {
    const type = 'roster.audit.checkpoint.signed.v1'
    const checkpoint = await vi.waitFor(
      () => findMessage(({ header, subject }) => header.get('ce-type') === type && subject.includes('.users.')),
      { timeout: 20_000, interval: 500 },
    )
    const { position } = await there.first('users', 'events', `type = 'machine.added'`)
    const message = await messageOf(`users-${position}`)
    await there.manager.streams.deleteMessage(streamName, message.seq)
    await there.admin`insert into roster_users.parked_events (position, reason) values (${position}, '')`
    const event = `users: events position=${position}`
    try {
      const end = `roster.events.users.default.user.${userId}.removed`
      const [bare, elsewhere, forged, strangeNumber] = [
        await published(message.subject, message.data),
        await published(end, checkpoint.data, attributes(checkpoint)),
        await published(checkpoint.subject, '{"jws":"forged"}', attributes(checkpoint)),
        await published(checkpoint.subject, checkpoint.data, attributes(checkpoint, { 'ce-sequence': '99999' })),
      ]
      await expectNamed(
        [withoutStrange],
        [
          `${event}: it is a dead letter: the stream does not have it`,
          `${named(bare)}: it has no attributes of CloudEvents`,
          `${named(elsewhere)}: it calls itself a checkpoint, and lies elsewhere than those`,
          `${named(forged)}: it is not checkpoint ${checkpoint.header.get('ce-sequence')} of the database`,
          `${named(strangeNumber)}: the database has no such checkpoint`,
        ],
      )
      await there.admin`delete from roster_users.parked_events`
      const false_ = { ...message.json<object>(), name: 'Mallory' }
      const lie = await published(message.subject, JSON.stringify(false_), attributes(message))
      await expectNamed(
        [withoutStrange],
        [`${named(lie)}: data.name: not what event users-${position} of the database says`],
      )
      expect((await there.roster('verify', '--without-stream')).status).toBe(0)
      await expectNamed([], [`${event}: the stream does not have it`])
    } finally {
      await there.admin`delete from roster_users.parked_events`
      // Behind all others.
      await there.nats.jetstream().publish(message.subject, message.data, { headers: attributes(message) })
    }
  })
})

test('verify names a service that cannot be read, looks at its sisters, and ends with 2', async () => {
  const [row] = await there.admin`delete from roster_idp.published returning *`
  try {
    expect(await there.roster('verify', 'idp', 'grants')).toMatchObject({
      status: 2,
      out: '0 rows differ.\n',
      err: expect.stringMatching(/^idp: the place up to which events are published is missing$/m),
    })
  } finally {
    await there.admin`insert into roster_idp.published ${there.admin(row!)}`
  }
})

/** Users, members and grants come, change and go until the signal. */
async function writeUntil(over: AbortSignal): Promise<number> {
  const { organizationId, projectId } = there.all.values as { organizationId: string; projectId: string }
  const own = async (operation: Operation, request: JsonObject) =>
    ok(
      await callGrpc(operation, request, {
        url: there.house.url,
        token: there.house.adminToken,
        organization: organizationId,
      }),
    )
  let writes = 0
  const one = async () => {
    while (!over.aborted) {
      const email = { email: uniqueEmail() }
      const { userId } = await own('AddHumanUser', { userName: unique('human'), profile, email })
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

test('a healthy Roster has nothing that differs, under load and afterwards', { timeout: 240_000 }, async () => {
  const kept = `${await mkdtemp(join(tmpdir(), 'roster-kept-'))}/kept.jsonl`
  const over = new AbortController()
  const writing = writeUntil(over.signal)
  try {
    await writeFile(kept, (await there.roster('checkpoints')).out)
    for (const args of [[], ['--audit', '--checkpoints', kept, '--keys', kept], []]) {
      const { status, out, err } = await there.roster('verify', ...args)
      expect({ status, err: err.replace(/^(stream|users|grants|idp|notifier): .*\n/gm, '') }).toEqual({
        status: 0,
        err: '',
      })
      expect(out).toMatch(/^Nothing differs\.\n$/m)
    }
  } finally {
    over.abort()
    expect(await writing).toBeGreaterThan(50)
  }
  await vi.waitFor(async () => expect((await there.roster('verify')).out).toBe('Nothing differs.\n'), {
    timeout: 20_000,
  })
})
