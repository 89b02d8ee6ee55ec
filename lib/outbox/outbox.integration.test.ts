import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { EventPosition } from '#gen/roster/feed/v1/feed'
import { connectNats } from '../nats/connect-nats.ts'
import { callersChanged, type Hint, hintSubject, readHints } from '../events/hints.ts'
import { add, count, rename, type Replica, silent } from '#test/support/counters'
import {
  byAggregate,
  everythingIsPublished,
  followBoth,
  type Publishing,
  readStream,
  startPublishing,
} from '#test/support/publishing'

let publishing: Publishing
let [a, b]: Replica[] = []

beforeAll(async () => {
  publishing = await startPublishing()
  ;[a, b] = publishing.replicas
})

afterAll(() => publishing?.stop())

describe('events in the stream', () => {
  test('are those of the database, each once and in the order of its aggregate, with two replicas', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, i) => [a!, b!][i % 2]!.store.execute(add(`c${i}`, `c${i}`))))
    await Promise.all(Array.from({ length: 800 }, (_, i) => [a!, b!][i % 2]!.store.execute(count(`c${(i * 7) % 40}`))))
    publishing.outboxes[0].committed([])
    await everythingIsPublished(publishing)
  })

  test('are each there once, although another service publishes between them', async () => {
    const publishOther = () =>
      publishing.admin.ask('roster.events.grants.o.project.p.added', '', { timeout: 1000 }).answer
    const others = (async () => {
      for (let i = 0; i < 300; i++) await publishOther()
    })()
    await Promise.all(Array.from({ length: 400 }, (_, i) => [a!, b!][i % 2]!.store.execute(count(`c${i % 40}`))))
    await others
    await everythingIsPublished(publishing)
  })

  test('come later where the stream did not take them, and then none is skipped', async () => {
    let refused = 0
    publishing.beforePublish.run = async () => {
      if (++refused <= 60) throw new Error('not now')
    }
    await Promise.all(Array.from({ length: 40 }, (_, i) => a!.store.execute(count(`c${i}`))))
    await everythingIsPublished(publishing)
    expect(refused).toBeGreaterThan(60)
    publishing.beforePublish.run = async () => {}
  })

  test('contain everything that happened, in plain JSON', async () => {
    const { after } = await a!.store.execute(add('published', 'published'))
    await everythingIsPublished(publishing)
    const event = (await readStream(publishing.admin)).find(({ aggregateId }) => aggregateId === 'published')
    expect(event).toEqual({
      id: expect.stringMatching(/^users-\d+$/),
      source: '/roster/users',
      type: 'roster.counter.added.v1',
      aggregateType: 'counter',
      aggregateId: 'published',
      organizationId: 'house',
      sequence: 1,
      actor: '',
      requestId: 'test',
      causationId: '',
      traceparent: '',
      cause: '',
      time: after.changedAt.toISOString(),
      data: { name: 'published' },
    })
  })

  test('come with hints, so that the notifier need not wait for its next look', async () => {
    const { connection } = await connectNats(publishing.servers.natsUrl.notifier, 'notifier', silent)
    const hints: Hint[] = []
    connection.subscribe(hintSubject('users'), { callback: (_, message) => hints.push(...readHints(message.string())) })
    await connection.flush()
    await a!.store.execute(add('hinted', 'hinted'))
    await vi.waitFor(() => expect(hints).toContainEqual({ organizationId: 'house', type: 'counter.added' }))
    await connection.close()
  })

  test('wait for an older running transaction, and then none is skipped', async () => {
    const commit = Promise.withResolvers<void>()
    const inserted = Promise.withResolvers<void>()
    const slow = a!.sql.begin(async (sql) => {
      await sql`insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
        values ('counter', 'slow', 1, 'added', '{"name": "slow"}', 'house', '', '', now())`
      inserted.resolve()
      await commit.promise
    })
    await inserted.promise
    await b!.store.execute(add('fast', 'fast'))
    const { asked } = publishing
    const looks = asked[0] + asked[1]
    publishing.outboxes[1].committed([])
    await vi.waitFor(() => expect(asked[0] + asked[1]).toBeGreaterThan(looks + 10), { timeout: 10_000 })
    expect(byAggregate(await readStream(publishing.admin))).not.toHaveProperty('fast')
    commit.resolve()
    await slow
    await everythingIsPublished(publishing)
  })

  test('include those of slow transactions, which commit in another order than they began', async () => {
    const { sql } = b!
    const slow = (id: string, seconds: number) => ({
      ...count(id),
      decide: (counter: any) => ({
        ...count(id).decide(counter),
        writes: [(sql: any) => sql`select pg_sleep(${seconds})`],
      }),
    })
    // Beside the transactions of the store, further ones begin together and commit in reverse order.
    const commits = Array.from({ length: 6 }, () => Promise.withResolvers<void>())
    const begun = commits.map(async (_, i) => {
      const inserted = Promise.withResolvers<void>()
      const done = sql.begin(async (sql) => {
        await sql`insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
          values ('counter', ${`late-${i}`}, 1, 'added', '{"name": "late"}', 'house', '', '', now())`
        inserted.resolve()
        await commits[i]!.promise
      })
      await inserted.promise
      return { done }
    })
    const late = await Promise.all(begun)
    const load = Array.from({ length: 300 }, (_, i) => {
      const id = `c${(i * 7) % 40}`
      return [a!, b!][i % 2]!.store.execute(i % 10 === 0 ? slow(id, (i % 50) / 500) : count(id))
    })
    for (const [i, { done }] of [...late.entries()].toReversed()) {
      await load[i * 50]
      commits[i]!.resolve()
      await done
    }
    await Promise.all(load)
    await everythingIsPublished(publishing)
  })

  test('do not wait for ever for a transaction that is given up', async () => {
    const slow = a!.sql.begin(async (sql) => {
      await sql`select pg_current_xact_id()`
      await b!.store.execute(add('after', 'after'))
      throw new Error('given up')
    })
    await expect(slow).rejects.toThrow('given up')
    await everythingIsPublished(publishing)
  })

  test('are announced to the gateways where they change a caller’s permissions', async () => {
    const { connection } = await connectNats(publishing.servers.natsUrl.gateway, 'gateway', silent)
    const messages = connection.subscribe(callersChanged, { max: 1 })
    await connection.flush()
    await a!.store.execute(rename('published', 'published-anew'))
    for await (const message of messages) expect(message.string()).toBe('published')
    await connection.close()
  })
})

describe('two replicas', () => {
  test('the one that waits does not keep the database busy, although it commits', async () => {
    publishing.outboxes[0].committed([])
    publishing.outboxes[1].committed([])
    await everythingIsPublished(publishing)
    const { asked } = publishing
    asked.fill(0)
    await vi.waitFor(() => expect(Math.min(...asked)).toBeGreaterThan(5), { timeout: 10_000, interval: 5 })
    expect(Math.max(...asked)).toBeLessThan(60)
  })

  const inOrder = async () => {
    const rows = await a!.sql<{ id: string }[]>`
      select 'users-' || position as id from events order by events.transaction_id, events.position
    `
    return rows.map(({ id }) => id)
  }

  test('list every event once and in order from memory and database, whichever of them leads', async () => {
    let isOver = false
    const following = followBoth(publishing, () => isOver)
    for (let round = 0; round < 5; round++) {
      const load = Array.from({ length: 100 }, (_, i) => [a!, b!][(i + round) % 2]!.store.execute(count(`c${i % 40}`)))
      await Promise.all(load)
      await everythingIsPublished(publishing)
    }
    isOver = true
    expect(await following).toEqual(await inOrder())
    const [first] = await a!.sql`
      select transaction_id::text::int as "transactionId", position::int from published
    `
    const known = publishing.recent.map(({ after }) => after({ ...(first as EventPosition), position: 0 })?.length ?? 0)
    expect(Math.max(...known)).toBeGreaterThan(0)
  })

  test.each([1, 2, 3, 4])('continue when connections break during work (%i)', async (round) => {
    const load = Array.from({ length: 200 }, async (_, i) =>
      [a!, b!][i % 2]!.store.execute(count(`c${(i + round) % 40}`)).catch(() => {}),
    )
    await a!.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
    `
    await Promise.all(load)
    await everythingIsPublished(publishing)
  })

  test('no connection of the pools keeps a lock or a relaxed commit setting, whatever happened', async () => {
    await Promise.all(publishing.outboxes.map((outbox) => outbox.stop()))
    // The first statement on a new connection may still report the end of the old one.
    const locks = await vi.waitFor(
      () => a!.sql`
        select l.pid from pg_locks l join pg_database d on d.oid = l.database
        where locktype = 'advisory' and datname = current_database()
      `,
    )
    expect(locks).toHaveLength(0)
    // Enough statements at one time to use every connection.
    const settings = await Promise.all(
      [a!, b!].flatMap(({ sql }) =>
        Array.from({ length: 8 }, () =>
          vi.waitFor(() => sql`select current_setting('synchronous_commit') as value from pg_sleep(0.1)`),
        ),
      ),
    )
    expect(new Set(settings.map(([row]) => row!.value))).toEqual(new Set(['on']))
  })
})
