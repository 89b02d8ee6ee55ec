import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { allPublished } from '../support/all-published.ts'
import { documentLines } from '../support/document-lines.ts'
import { type ServersOver, startHouseOver, startServersOver } from '../support/house-over.ts'
import type { OperatedHouse } from '../support/operated-house.ts'
import { type Cluster, folderIn, postgresTools, startCluster } from '../support/postgres-tools.ts'
import { startTestReceiver, type TestReceiver } from '../support/receiver.ts'
import { liveAfter, liveBefore, signIn, works } from '../support/restored-life.ts'
import { noteTimes, seconds, sizeOf } from './times.ts'
import { addPeople, startWriting, type Written } from './writes.ts'

// docs/backup.md: its lines are run as they stand there. The PostgreSQL of a Roster is killed after a load of writes, and
// its files are lost.

/** Milliseconds after the last archived WAL at which it is killed: shortly before the next, at the worst moment. */
const worst = 55_000

describe.skipIf(!postgresTools)('base backup and WAL (where Debian’s package postgresql is installed)', () => {
  let cluster: Cluster
  let receiver: TestReceiver
  let first: ServersOver
  let there: OperatedHouse
  let life: Awaited<ReturnType<typeof liveBefore>>
  let written: Written[]
  let [until, killedAt] = ['', 0]
  let backupTook = 0
  let env: Record<string, string>
  const current: { house?: OperatedHouse; servers?: ServersOver } = {}

  beforeAll(async () => {
    receiver = await startTestReceiver()
    receiver.answer(() => 503)
    cluster = await startCluster()
    const backup = folderIn(cluster, 'backup')
    const archive = folderIn(cluster, 'wal')
    env = { BACKUP: backup, WAL: archive, PGDATA: cluster.data, DATABASE_URL: cluster.url }
    const lines = documentLines('backup.md', 'archive').replaceAll('/backup/wal', archive)
    await cluster.shell('pg_ctl -D "$PGDATA" -w stop', env)
    writeFileSync(join(cluster.data, 'postgresql.auto.conf'), lines)
    await cluster.start()
    first = await startServersOver(cluster.url)
    there = await startHouseOver(first)
    await addPeople(there)
    life = await liveBefore(there, receiver.url)
    const began = performance.now()
    await cluster.shell(documentLines('backup.md', 'base'), env)
    backupTook = performance.now() - began
    const writing = startWriting(there)
    written = writing.written
    await vi.waitFor(() => expect(written.length).toBeGreaterThan(20), 20_000)
    const [{ now }] = await there.admin<[{ now: string }]>`select now()::text as now`
    until = now
    await liveAfter(there, life.tokenId)
    await worstMoment(cluster.url)
    await writing.stop()
    killedAt = Date.now()
    // Without their PostgreSQL, services in this process would wait for it.
    await there.stop()
    await cluster.kill()
  }, 900_000)
  afterAll(async () => {
    await current.house?.stop()
    await current.servers?.stop()
    await first?.stop()
    await receiver?.stop()
    await cluster?.stop()
  })

  /** Restores by the lines of the page, and starts the services over these servers, or over empty ones. */
  async function restore(lines: string, servers?: ServersOver): Promise<{ house: OperatedHouse; answers: number }> {
    await current.house?.stop()
    cluster.lose()
    const began = performance.now()
    await cluster.shell(lines, { ...env, UNTIL: until })
    await cluster.start()
    const house = await startHouseOver(
      servers ?? (current.servers = await startServersOver(cluster.url)),
      there.house.adminToken,
    )
    current.house = house
    await signIn(house)
    return { house, answers: performance.now() - began }
  }

  test('with another folder of WAL, the lines end before anything is restored', async () => {
    cluster.lose()
    const lines = documentLines('backup.md', 'restore-base')
    await expect(cluster.shell(lines, { ...env, WAL: join(env['WAL']!, 'other'), UNTIL: until })).rejects.toThrow()
    expect(existsSync(cluster.data)).toBe(false)
  })

  test('the newest state is restored beside empty NATS and Redis, and nothing is missing before its end', async () => {
    const lines = documentLines('backup.md', 'restore-base').replace(/^recovery_target.*\n/gm, '')
    const began = performance.now()
    const { house, answers } = await restore(lines)
    await allPublished(house)
    const published = performance.now() - began
    const rows = await house.admin<{ id: string }[]>`
      select id from roster_users.aggregates where type = 'user' and id like 'write-%'
    `
    const there = new Set(rows.map(({ id }) => id))
    const lost = written.filter(({ id }) => !there.has(id))
    expect(lost).toEqual(written.slice(written.length - lost.length))
    noteTimes({
      way: 'base backup and WAL',
      size: await sizeOf(house),
      backup: seconds(backupTook),
      lost: `${lost.length} writes of ${seconds(lost.length > 0 ? killedAt - lost[0]!.at : 0)}`,
      answers: seconds(answers),
      published: seconds(published),
    })
    expect(killedAt - (lost[0]?.at ?? killedAt)).toBeLessThan(65_000)
    expect(await works(house, life.session)).toBe(true)
    expect(await house.roster('verify')).toMatchObject({ status: 0 })
  }, 600_000)

  test('a moment is restored, and what the stream has since is taken away again', async () => {
    const { house } = await restore(documentLines('backup.md', 'restore-base'), first)
    const ids = await house.admin<{ id: string }[]>`select id from roster_users.aggregates where id like 'write-%'`
    expect(ids.length).toBeGreaterThan(20)
    expect(ids.length).toBeLessThan(written.length / 2)
    expect(await works(house, life.pat)).toBe(true)
    const token = join(cluster.folder, 'token')
    writeFileSync(token, house.house.adminToken)
    const repeat = () =>
      house.roster('removals', 'repeat', '--url', house.house.url, '--token-file', token, '--yes', '--json')
    const { json, status, err } = await repeat()
    // In the order of the stream, which has the events of two services as they came.
    expect(json().toSorted((one, other) => one.type.localeCompare(other.type))).toEqual(
      [
        ['member.removed', expect.any(String)],
        ['user.locked', 'bob'],
        ['user.pat.removed', 'robot'],
        ['user.removed', 'eve'],
      ].map(([type, id]) => ({ type, id, outcome: 'done' })),
    )
    expect(status).toBe(0)
    expect(err).toMatch(/\d+ × user\.machine\.added were lost, and nothing repeats them/)
    expect(await works(house, life.pat)).toBe(false)
    await expect.poll(async () => (await house.roster('forgotten', 'eve')).status).toBe(0)
    expect((await repeat()).json().map(({ outcome }) => outcome)).toContain('is gone')
  }, 300_000)
})

async function worstMoment(url: string): Promise<void> {
  const sql = postgres(url, { max: 1 })
  const archived = async () => {
    const [row] = await sql<[{ count: number; age: number }]>`
      select archived_count::int as count, extract(epoch from now() - last_archived_time)::float8 * 1000 as age
      from pg_stat_archiver
    `
    return row
  }
  const { count } = await archived()
  while ((await archived()).count === count) await sleep(200)
  // Under much load, a file of WAL is full before its time.
  const latest = Date.now() + worst
  while ((await archived()).age < worst && Date.now() < latest) await sleep(200)
  await sql.end()
}
