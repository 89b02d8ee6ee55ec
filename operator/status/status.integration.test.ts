import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import type { TransactionSql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { roster } from '#lib/health/release'
import { connectNats } from '#lib/nats/connect-nats'
import { runOperator } from '#test/support/operator'
import { silent } from '#test/support/rpc'
import { startStatusHouse, type StatusHouse } from '#test/support/status-house'
import { mailQueueName } from '../../services/notifier/mails/queue/mail-queue.ts'
import { queuePrefix } from '../../services/notifier/redis.ts'
import { unique } from '../../test/examples/people.ts'

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
      expect(followers.grants).toEqual({ cascades: none, 'provider-roles': none })
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

  test('are all there and can be unwrapped where no key was lost, also after a user was removed', async () => {
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

  test('that are lost or cannot be unwrapped are counted, and their users named', async () => {
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
      expect.stringMatching(/^users: the keys of 2 users are lost, such as of \S+, \S+: no key decrypts them$/),
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

describe('what waits for more than 60 seconds', () => {
  test('is known for every follower, by its name', async () => {
    // A follower is there once it has looked for the first time.
    await vi.waitFor(
      async () => {
        const rows = await Promise.all(
          ['users', 'grants', 'idp', 'notifier'].map(async (service) => {
            const names = await there.admin.unsafe<{ name: string }[]>(`select name from roster_${service}.followers`)
            return [service, names.map(({ name }) => name).toSorted()] as const
          }),
        )
        const lags = Object.entries((await there.status()).followers).map(
          ([service, own]) => [service, Object.keys(own as object).toSorted()] as const,
        )
        expect(Object.fromEntries(lags)).toEqual(Object.fromEntries(rows))
      },
      { timeout: 20_000 },
    )
  })

  test('is named where the notifier does not take events in, so that no webhook gets them', async () => {
    await there.whileLocked('roster_notifier.cursors', async () => {
      await there.storeBefore('10 minutes')
      expect(await there.roster('status')).toMatchObject({
        status: 1,
        out: expect.stringMatching(/^! an event of grants waits for the notifier; it has for 6\d\d s$/m),
      })
      expect((await there.status()).intake.grants).toEqual({ waiting: 1, seconds: expect.any(Number) })
    })
    await there.allIsWell()
  })

  test('is named where a follower stands still', async () => {
    await there.whileLocked('roster_idp.followers', async () => {
      await there.storeBefore('10 minutes')
      const { attention, followers } = await there.status()
      expect(attention).toContainEqual(
        expect.stringMatching(/^idp: an event waits for the follower organization-removal; it has for 6\d\d s$/),
      )
      expect(followers.idp['organization-removal'].waiting).toBeGreaterThan(0)
    })
    await there.allIsWell()
  })

  test('is named where no worker takes a job, and where a message waits for the consumer', async () => {
    await there.house.restart('notifier', async () => {
      const redis = new Redis(there.servers.redisUrl)
      const queue = new Queue(mailQueueName, { connection: redis, prefix: queuePrefix })
      const job = await queue.add('mail', {}, { timestamp: Date.now() - 600_000, priority: 7, removeOnFail: true })
      await queue.add('mail', {}, { priority: 1, jobId: 'fresh' })
      await there.act('AddHumanUser', {
        userName: unique('human'),
        profile: { firstName: 'A', lastName: 'B' },
        email: { email: `${unique('human')}@example.com` },
      })
      await vi.waitFor(
        async () => expect((await there.status()).stream.consumers.notifier.seconds).toBeGreaterThan(1),
        {
          timeout: 20_000,
        },
      )
      const { attention, jobs } = await there.status()
      expect(jobs[mailQueueName].counts.prioritized).toBe(2)
      expect(attention).toContainEqual(
        expect.stringMatching(/^a job of email-codes waits for a worker; it has for 6\d\d s$/),
      )
      await job.remove()
      await queue.remove('fresh')
      await queue.close()
      redis.disconnect()
    })
    await there.allIsWell()
  })

  test('is named where something is due and nothing is sent, and not where a receiver failed or others are sent', async () => {
    await there.house.restart('notifier', async () => {
      const due = async () => (await there.status()).attention.filter((line: string) => line.includes('webhook'))
      await there.admin`
        insert into roster_notifier.webhooks (webhook_id, organization_id, all_organizations, url, event_types, active, created_at)
        values ('due', 'due', false, 'https://example.com', '{}', true, now())
      `
      await there.admin`insert into roster_notifier.chains (webhook_id, aggregate, due_at) values ('due', 'user/1', now() - interval '10 minutes')`
      expect(await due()).toEqual([
        expect.stringMatching(
          /^a delivery to a webhook is due, and nothing is sent for its organization; it has for 6\d\d s$/,
        ),
      ])
      await there.admin`update roster_notifier.webhooks set retry_at = now() + interval '1 minute' where webhook_id = 'due'`
      expect(await due()).toEqual([])
      await there.admin`update roster_notifier.webhooks set retry_at = null where webhook_id = 'due'`
      await there.admin`insert into roster_notifier.turns (organization_id, turn_at) values ('due', now())`
      expect(await due()).toEqual([])
      await there.admin`update roster_notifier.turns set turn_at = now() - interval '2 minutes' where organization_id = 'due'`
      expect(await due()).toHaveLength(1)
      await there.admin`update roster_notifier.webhooks set active = false where webhook_id = 'due'`
      expect(await due()).toEqual([])
      await there.admin`delete from roster_notifier.webhooks where webhook_id = 'due'`
      await there.admin`delete from roster_notifier.chains where webhook_id = 'due'`
      await there.admin`delete from roster_notifier.turns where organization_id = 'due'`
    })
    await there.allIsWell()
  })
})

describe('the audit chain', () => {
  test('that goes on has nothing to wait for, and its end is signed', async () => {
    await there.act('AddProject', { name: unique('project') })
    await vi.waitFor(
      async () =>
        expect((await there.status()).chains.grants).toEqual({
          epoch: 1,
          held: false,
          waiting: 0,
          seconds: 0,
          unsigned: 0,
          unsignedEvents: 0,
          mayWait: expect.any(Number),
        }),
      { timeout: 20_000 },
    )
    expect((await there.roster('status')).out).toMatch(/^grants +0 +0\.0 +1$/m)
  })

  test('that is held is named', async () => {
    await inIdp((sql) => sql`select audit_hold()`)
    expect(await there.roster('status')).toMatchObject({
      status: 1,
      out: expect.stringContaining('! idp: the audit chain is held, because stored events are being changed'),
    })
    await inIdp((sql) => sql`select audit_begin('by hand')`)
    await vi.waitFor(async () => expect((await there.status()).chains.idp).toMatchObject({ epoch: 2, held: false }), {
      timeout: 20_000,
    })
    await there.allIsWell()
  })

  test('that cannot go on is named with the age of the first event that waits', async () => {
    await there.whileLocked('roster_grants.audit_pages', async () => {
      await there.storeBefore('10 minutes')
      const { chains, attention } = await there.status()
      expect(chains.grants.waiting).toBeGreaterThan(0)
      expect(chains.grants.unsigned).toBeGreaterThanOrEqual(600)
      expect(attention).toContainEqual(expect.stringMatching(/^grants: an event waits 6\d\d s for the audit chain$/))
    })
    await there.allIsWell()
  })

  test('that stays unsigned for longer than the last pauses is named, whatever time a checkpoint claims', async () => {
    await vi.waitFor(
      async () => {
        await there.act('AddProject', { name: unique('project') })
        // Of two checkpoints, the only pause would be the one that is altered.
        expect((await there.admin`select from roster_grants.audit_checkpoints`).count).toBeGreaterThan(2)
      },
      { timeout: 20_000 },
    )
    // The oldest event without a checkpoint counts. The same loop notes that a checkpoint was published, also after the last one was
    // signed: it would stand still at the lock below, and take no event into the chain.
    await vi.waitFor(
      async () => {
        expect((await there.status()).chains.grants.unsigned).toBe(0)
        expect((await there.admin`select from roster_grants.audit_checkpoints where not published`).count).toBe(0)
      },
      { timeout: 20_000 },
    )
    await there.admin`
      update roster_grants.audit_checkpoints set signed_at = '2999-01-01'
      where number = (select max(number) from roster_grants.audit_checkpoints)
    `
    await there.whileLocked('roster_grants.audit_checkpoints', async () => {
      await there.storeBefore('1 hour')
      await vi.waitFor(
        async () => {
          const { chains, attention } = await there.status()
          expect(chains.grants.waiting).toBe(0)
          expect(attention).toContainEqual(expect.stringMatching(/^grants: no checkpoint was signed for 36\d\d s$/))
        },
        { timeout: 20_000 },
      )
    })
    await there.allIsWell()
  })

  const inIdp = (work: (sql: TransactionSql) => PromiseLike<unknown>) =>
    there.admin.begin(async (sql) => {
      await sql`set local search_path to roster_idp`
      await work(sql)
    })
})
