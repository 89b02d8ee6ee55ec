import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startStatusHouse, type StatusHouse } from '#test/support/status-house'
import { mailQueueName } from '../../../services/notifier/mails/mail-queue.ts'
import { queuePrefix } from '../../../services/notifier/redis.ts'
import { unique } from '../../../test/examples/people.ts'

let there: StatusHouse

beforeAll(async () => {
  there = await startStatusHouse()
}, 120_000)
afterAll(() => there?.stop())

describe('what waits for more than 60 seconds', () => {
  test('is told of every follower, by its name', async () => {
    // A follower is there once it has looked for the first time.
    await vi.waitFor(
      async () => {
        const rows = await Promise.all(
          ['users', 'grants', 'idp', 'notifier'].map(async (service) => {
            const names = await there.admin.unsafe<{ name: string }[]>(`select name from roster_${service}.followers`)
            return [service, names.map(({ name }) => name).toSorted()] as const
          }),
        )
        const told = Object.entries((await there.status()).followers).map(
          ([service, own]) => [service, Object.keys(own as object).toSorted()] as const,
        )
        expect(Object.fromEntries(told)).toEqual(Object.fromEntries(rows))
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
