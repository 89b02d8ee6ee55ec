import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { roster } from '#lib/health/release'
import { connectNats } from '#lib/nats'
import { runOperator } from '#test/support/operator'
import { silent } from '#test/support/rpc'
import { startStatusHouse, type StatusHouse } from '#test/support/status-house'
import { unique } from '../../../test/examples/people.ts'

let there: StatusHouse

beforeAll(async () => {
  there = await startStatusHouse()
}, 120_000)
afterAll(() => there?.stop())

const none = { waiting: 0, seconds: 0 }

test('status shows every service, its events and queues, and ends well', async () => {
  await vi.waitFor(async () => expect((await there.roster('status')).status).toBe(0), { timeout: 20_000 })
  const { out } = await there.roster('status')
  for (const name of ['users', 'grants', 'idp', 'notifier', 'gateway'])
    expect(out).toMatch(new RegExp(`^${name} +${roster.version} `, 'm'))
  expect(out).toMatch(/^messages of the stream for notifier +0$/m)
  expect(out).toMatch(/^jobs of email-codes, waiting +0$/m)
  expect(out).toContain('All is well.')
  const [found] = (await there.roster('status', '--json')).json()
  expect(Object.keys(found.services).toSorted()).toEqual(['gateway', 'grants', 'idp', 'notifier', 'users'])
  expect(found).toMatchObject({
    attention: [],
    tails: { users: { parked: 0 } },
    intake: { users: { waiting: 0, seconds: 0 } },
  })
})

test('status names a service that does not answer, and ends with 1', async () => {
  await there.house.restart('idp', async () => {
    const { status: exit, out } = await there.roster('status')
    expect(exit).toBe(1)
    expect(out).toContain('! idp: no replica answers')
  })
})

test(
  'a service that locks its tables hides no other one, and is named with the reason',
  { timeout: 60_000 },
  async () => {
    await there.admin.begin(async (transaction) => {
      await transaction`lock table roster_users.events, roster_users.audit_checkpoints`
      const { status: exit, json } = await there.roster('status', '--json')
      const [{ tails, chains, intake, followers, forgettings, deliveries, attention }] = json()
      expect(exit).toBe(1)
      for (const found of [tails, chains]) expect(Object.keys(found).toSorted()).toEqual(['grants', 'idp', 'notifier'])
      expect(intake).toEqual({ grants: none, idp: none, notifier: none })
      expect(Object.keys(followers)).toEqual(['grants', 'idp', 'notifier'])
      expect(followers.grants).toEqual({ cascades: none })
      expect(deliveries).toEqual(expect.any(Object))
      expect(forgettings).toEqual({})
      const reasons = attention.filter((line: string) => line.includes('cannot be looked at'))
      expect(reasons).toEqual(['users: cannot be looked at: canceling statement due to lock timeout'])
    })
    await there.allIsWell()
  },
)

test('status shows each gateway, and that two of them run in different versions', async () => {
  const { connection } = await connectNats(there.servers.natsUrl.gateway, 'gateway', silent)
  const older = `${roster.former}.7`
  try {
    const answer = JSON.stringify({ id: 'x', version: older, metadata: { host: 'another' } })
    connection.subscribe('$SRV.INFO.gateway', { callback: (_error, message) => void message.respond(answer) })
    await connection.flush()
    const [found] = (await there.roster('status', '--json')).json()
    expect(found.attention).toEqual([`several versions run: ${older}, ${roster.version}`])
    const versions = found.services.gateway.map(({ version }: { version: string }) => version)
    expect(versions.toSorted()).toEqual([older, roster.version])
  } finally {
    await connection.close()
  }
})

describe('keys of users', () => {
  // No mail is under way that another event would follow.
  const addUser = async () =>
    String((await there.act('AddMachineUser', { userName: unique('machine'), name: 'A machine' })).userId)

  test('are all there and open where nobody was lost, also after a user was removed', async () => {
    await addUser()
    await there.act('DeleteUser', { userId: await addUser() })
    await there.allIsWell()
    const { keys } = await there.status()
    expect(keys).toEqual({ looked: expect.any(Number), isAll: true, opened: true, lost: 0, users: [] })
    const [{ alive }] = await there.admin<
      [{ alive: number }]
    >`select count(*)::int as alive from roster_users.subject_keys`
    expect(keys.looked).toBe(alive)
    expect((await there.roster('status')).out).toContain(`keys of users: all ${alive} looked at, 0 lost\n`)
  })

  test('that are lost or cannot be opened are counted, and their users named', async () => {
    const [missing, broken] = [await addUser(), await addUser()]
    await vi.waitFor(async () => expect((await there.status()).tails.users.waiting).toBe(0), { timeout: 20_000 })
    await there.admin`create table kept_keys as table roster_users.subject_keys`
    await there.admin`delete from roster_users.subject_keys where subject_id = ${missing}`
    await there.admin`
      update roster_users.subject_keys set wrapped = set_byte(wrapped, length(wrapped) - 1, 255 - get_byte(wrapped, length(wrapped) - 1))
      where subject_id = ${broken}
    `
    const { keys, attention } = await there.status()
    expect(keys).toMatchObject({ lost: 2, opened: true })
    expect(keys.users.toSorted()).toEqual([missing, broken].toSorted())
    expect(attention).toEqual([
      expect.stringMatching(/^users: the keys of 2 users are lost, such as of \S+, \S+: nobody can read them$/),
    ])
    const { ROSTER_OPERATOR_PERSONAL_KEY: _, ...keyless } = there.settings
    const [without] = (await runOperator(['status', '--json'], keyless)).json()
    expect(without.keys).toMatchObject({ lost: 1, opened: false, users: [missing] })
    await there.admin`delete from roster_users.subject_keys`
    await there.admin`insert into roster_users.subject_keys table kept_keys`
    await there.allIsWell()
  })

  test('are looked at for a part of the users where there are very many', async () => {
    const many = 8000
    await there.admin`
      insert into roster_users.aggregates (type, id, organization_id, sequence, created_at, changed_at, state)
      select 'user', 'many-' || number, 'many', 1, now(), now(), jsonb_build_object('$sealed', repeat('x', 1500))
      from generate_series(1, ${many}::int) number
    `
    const { keys } = await there.status()
    expect(keys.isAll).toBe(false)
    expect(keys.looked).toBeGreaterThan(0)
    expect(keys.looked).toBeLessThan(many)
    expect(keys.users).toHaveLength(5)
    expect((await there.roster('status')).out).toMatch(/^keys of users: \d+ of them looked at, \d+ lost$/m)
    await there.admin`delete from roster_users.aggregates where organization_id = 'many'`
  })
})
