import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openSystem, type System } from '../../operator/system.ts'
import { startTestKeeper } from '../support/keeper.ts'
import { act } from './act.ts'
import { processOf } from './inflict.ts'
import { type Inspection, openInspection } from './inspect.ts'
import { askToRemove, checkReceipts, type Leaver, makeLeavers } from './leavers.ts'
import { type Running, startRunning } from './running.ts'
import { checkLeft, readableStores } from './still-readable.ts'

// The suite kills at random. Here a lock of PostgreSQL, or a keeper that refuses, holds a removal at each step.

const soon = { timeout: 60_000, interval: 50 }
let running: Running
let inspection: Inspection
let system: System
let sql: Sql
let number = 0

beforeAll(async () => {
  running = await startRunning()
  inspection = openInspection(running.servers)
  system = openSystem(running.operator)
  sql = postgres(running.servers.databaseUrl, { max: 4, onnotice: () => {} })
  await act(running, 'AddWebhook', { url: 'https://hook.invalid/', allOrganizations: true })
}, 120_000)
afterAll(async () => {
  await system?.close()
  await sql?.end()
  await inspection?.close()
  await running?.stop()
})

/** A user whom every place still shows. */
async function known(): Promise<Leaver> {
  const [leaver] = await makeLeavers(running, `step-${++number}`, 1)
  await vi.waitFor(async () => {
    expect(await inspection.readable(leaver!)).toContain('roster_notifier.deliveries')
    expect(await readableStores(system, leaver!)).toEqual(
      expect.arrayContaining(['subject_keys', 'stream', 'deliveries', 'statistics']),
    )
  }, soon)
  return leaver!
}

const isThere = async (found: Promise<{ count: number }>) => (await found).count > 0
const hasKey = ({ userId }: Leaver) => isThere(sql`select from roster_users.subject_keys where subject_id = ${userId}`)
const isInDeliveries = ({ marker }: Leaver) =>
  isThere(sql`select from roster_notifier.deliveries where payload like ${`%${marker}%`} limit 1`)
const isInStatistics = ({ userId }: Leaver) =>
  isThere(sql`select from roster_users.forgettings where user_id = ${userId} and statistics_at is null`)
const isSame = (left: string[], right: string[]) => left.join() === right.join()
const isAwaited = (table: string) =>
  isThere(sql`select from pg_locks where relation = ${table}::regclass and not granted`)
/** The types of the events of the user itself that the stream has. */
const streamed = async ({ organizationId, userId }: Leaver) => {
  const filter = `roster.events.users.${organizationId}.user.${userId}.>`
  const { state } = await (await system.jetstream()).streams.info('roster-events', { subjects_filter: filter })
  return Object.keys(state.subjects ?? {}).map((subject) => subject.split('.').slice(6).join('.'))
}

/** Locks a table. Returns the function that lets it go, which does nothing a second time. */
async function lock(table: string, mode: string): Promise<() => Promise<void>> {
  const connection = await sql.reserve()
  await connection.unsafe(`begin; lock table ${table} in ${mode} mode`)
  let release: (() => Promise<void>) | undefined = async () => {
    release = undefined
    await connection.unsafe('rollback')
    connection.release()
  }
  onTestFinished(() => release?.())
  return async () => release?.()
}

// PostgreSQL's samples take some seconds more, which one test waits for.
async function endsWell(leaver: Leaver, removing: Promise<unknown>, except = ['statistics']) {
  const left = [{ ...leaver, answer: await removing }]
  expect(await checkReceipts(running, inspection, left)).toEqual([])
  expect(await checkLeft(running, inspection, left, except)).toEqual([])
}

interface Step {
  locks: string
  mode: string
  victim: 'users' | 'notifier'
  /** Whether the removal has come so far, and some place still shows the user. */
  isReached(leaver: Leaver): Promise<boolean>
}

const steps: Record<string, Step> = {
  'in the transaction of the removal': {
    locks: 'roster_users.forgettings',
    mode: 'share',
    victim: 'users',
    isReached: async (leaver) => (await isAwaited('roster_users.forgettings')) && hasKey(leaver),
  },
  'before the removal is published': {
    locks: 'roster_users.published',
    mode: 'access exclusive',
    victim: 'users',
    isReached: async (leaver) => !(await hasKey(leaver)) && !(await streamed(leaver)).includes('removed'),
  },
  'before the deliveries are stripped': {
    locks: 'roster_notifier.cursors',
    mode: 'share',
    victim: 'notifier',
    isReached: async (leaver) =>
      !(await hasKey(leaver)) &&
      isSame(await streamed(leaver), ['removed']) &&
      (await isAwaited('roster_notifier.cursors')) &&
      isInDeliveries(leaver),
  },
  'before the statistics are made anew': {
    locks: 'roster_users.found_users',
    mode: 'share update exclusive',
    victim: 'users',
    isReached: async (leaver) =>
      !(await hasKey(leaver)) && (await isAwaited('roster_users.found_users')) && isInStatistics(leaver),
  },
}

describe('a removal ends, and nothing readable is left, where a process is killed', () => {
  test.each(Object.entries(steps))('%s', async (_, { locks, mode, victim, isReached }) => {
    const leaver = await known()
    const release = await lock(locks, mode)
    const removing = askToRemove(running, leaver)
    await vi.waitFor(async () => expect(await isReached(leaver)).toBe(true), soon)
    await processOf(running, victim).kill('SIGKILL')
    await release()
    await endsWell(leaver, removing, locks.endsWith('found_users') ? [] : ['statistics'])
  })

  test('before the stream is purged', async () => {
    const leaver = await known()
    const { removing, release } = await heldBeforePurge(leaver)
    await processOf(running, 'users').kill('SIGKILL')
    await release()
    await endsWell(leaver, removing)
  })

  test('between two parts of the purge of the stream', async () => {
    const leaver = await known()
    const { removing, release } = await heldBeforePurge(leaver)
    const answer = await removing
    running.cables['gateway↔nats'].cut()
    // This keeper removes what is of the user itself, and refuses what belongs to the user.
    const keeper = await startTestKeeper(running.servers.natsUrl, { users: ['user'] })
    const deadLetters = () => sql`select from roster_users.parked_for_followers where follower = 'forgetting'`
    try {
      await release()
      await vi.waitFor(async () => expect(await deadLetters()).toHaveLength(1), soon)
      expect(await streamed(leaver)).toEqual(['removed'])
      await processOf(running, 'users').kill('SIGKILL')
    } finally {
      await keeper.stop()
      running.cables['gateway↔nats'].mend()
    }
    await endsWell(leaver, Promise.resolve(answer))
    await vi.waitFor(async () => expect(await deadLetters()).toHaveLength(0), soon)
  })
})

test('a receipt that is forged, missing or about another removal is a violation', async () => {
  const [one, other] = await Promise.all(
    (await makeLeavers(running, 'forged', 2)).map(async (leaver) => ({
      ...leaver,
      answer: await askToRemove(running, leaver),
    })),
  )
  const { userId, answer } = one!
  const wrongWith = (change: object) =>
    checkReceipts(running, inspection, [{ ...one!, answer: { ...answer, ...change } }])
  const [head, , signature] = answer.receipt.split('.')
  const forged = [head, other!.answer.receipt.split('.')[1], signature].join('.')
  for (const receipt of [forged, '', undefined])
    expect(await wrongWith({ receipt })).toContainEqual(`no key made the receipt for ${userId}`)
  const { receipt } = other!.answer
  expect(await wrongWith({ receipt })).toContainEqual(expect.stringContaining(`the receipt for ${userId} says `))
  const details = { ...answer.details, sequence: Number(answer.details.sequence) + 1 }
  expect(await wrongWith({ details })).toContainEqual(expect.stringContaining(`${userId} was removed 1 times`))
  expect(await wrongWith({})).toEqual([])
})

/** Begins a removal, and holds it where the stream has the removal and all before it. */
async function heldBeforePurge(leaver: Leaver) {
  // This lock takes an id of a transaction, and the outbox publishes nothing behind an open one. Followers wait, too.
  const gate = await lock('roster_users.followers', 'access exclusive')
  const removing = askToRemove(running, leaver)
  await vi.waitFor(async () => expect(await hasKey(leaver)).toBe(false), soon)
  // This one takes no id.
  const release = await lock('roster_users.forgettings', 'share')
  await gate()
  await vi.waitFor(
    async () => expect(await streamed(leaver)).toEqual(expect.arrayContaining(['human.added', 'removed'])),
    soon,
  )
  return { removing, release }
}
