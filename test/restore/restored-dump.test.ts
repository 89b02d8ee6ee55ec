import { writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { projectRoot } from '../../deploy/local/home.ts'
import { roster } from '../../lib/health/release.ts'
import { connectNats, natsHeaders } from '../../lib/nats/connect-nats.ts'
import { callJson } from '../e2e/clients/json.ts'
import { allPublished } from '../support/all-published.ts'
import { documentLines } from '../support/document-lines.ts'
import { provisionSettings, type ServersOver, startHouseOver, startServersOver } from '../support/house-over.ts'
import type { OperatedHouse } from '../support/operated-house.ts'
import { type Cluster, folderIn, postgresTools, runLines, startCluster } from '../support/postgres-tools.ts'
import { startTestReceiver, type TestReceiver } from '../support/receiver.ts'
import { silent } from '../support/rpc.ts'
import { liveAfter, liveBefore, signIn, works } from '../support/restored-life.ts'

// docs/backup.md: its lines are run as they stand there.

describe.skipIf(!postgresTools)('a dump (where Debian’s package postgresql is installed)', () => {
  let receiver: TestReceiver
  let [before, after]: [Cluster, Cluster] = [undefined!, undefined!]
  let [there, restored]: [OperatedHouse, OperatedHouse] = [undefined!, undefined!]
  let [first, over]: [ServersOver, ServersOver] = [undefined!, undefined!]
  let life: Awaited<ReturnType<typeof liveBefore>>
  let kept: Awaited<ReturnType<typeof liveAfter>>
  let backup: string
  const stops: (() => unknown)[] = []

  beforeAll(async () => {
    receiver = await startTestReceiver()
    receiver.answer(() => 503)
    ;[before, after] = [await startCluster('fsync = off'), await startCluster('fsync = off')]
    first = await startServersOver(before.url)
    there = await startHouseOver(first)
    stops.push(() => receiver.stop(), before.stop, after.stop, first.stop)
    life = await liveBefore(there, receiver.url)
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), 20_000)
    backup = folderIn(before, 'backup')
    await before.shell(documentLines('backup.md', 'dump'), { DATABASE_URL: before.url, BACKUP: backup })
    kept = await liveAfter(there, life.tokenId)
    await allPublished(there)
    await there.stop()
    receiver.answer(() => 200)
    await inProject(documentLines('backup.md', 'restore-dump'), { DATABASE_URL: after.url })
    await spoilIndexes(after.url)
    over = await startServersOver(after.url)
    stops.push(() => over.stop())
    // On a new machine: the database alone is there.
    const endSessions = () =>
      inProject(`${documentLines('backup.md', 'end-sessions').trim()} --yes 2>&1`, { DATABASE_URL: after.url })
    // A replica that logs in as the second user, while passwords change, runs as well.
    const second = await asSecondUser(after.url)
    await expect(endSessions()).rejects.toThrow('users runs: stop it first')
    await second.end()
    const ended = await endSessions()
    expect(ended).toContain('2 sessions and access tokens ended, and all codes.')
    expect(ended).toContain(`PostgreSQL at ${new URL(after.url).host}, database roster, history 1 since `)
    restored = await startHouseOver(over, there.house.adminToken)
  }, 900_000)
  afterAll(async () => {
    await restored?.stop()
    for (const stop of stops.toReversed()) await stop()
  })

  /** Runs lines where Roster's source is, with the tools of PostgreSQL. */
  function inProject(lines: string, env: Record<string, string>): Promise<string> {
    const path = `${postgresTools}:${process.env['PATH']}`
    const all = { ...process.env, PATH: path, BACKUP: backup, ...provisionSettings, ...env }
    return runLines(lines, { cwd: projectRoot, env: all })
  }

  test('keeps what identifies people apart', async () => {
    expect(await readdir(join(backup, 'personal'))).toHaveLength(2)
    const texts = await before.shell(`zcat ${backup}/dump/*.dat.gz`)
    expect(texts).toContain('human.added')
    expect(texts).not.toMatch(/Lovelace|ada@example/)
  })

  test('restored into another PostgreSQL is what was dumped, with its rights and indexes', async () => {
    await allPublished(restored)
    const { status, out } = await restored.roster('verify')
    expect({ status, out: status === 0 ? '' : out }).toEqual({ status: 0, out: '' })
    await signIn(restored)
    const { users } = await restored.act('SearchUsers', {
      queries: [{ emailQuery: { emailAddress: 'ada@example.com' } }],
    })
    expect(users).toHaveLength(1)
  })

  test('sends what the backup still had to send', async () => {
    await expect.poll(() => receiver.taken().map(({ event }) => event.data.userName)).toContain('sent-later')
  })

  test('ends the sessions, access tokens and codes of before, and no personal access token', async () => {
    expect(await works(restored, life.session)).toBe(false)
    expect(await works(restored, life.accessToken)).toBe(false)
    expect(await works(restored, life.pat)).toBe(true)
    const verify = (verificationCode: string) =>
      callJson('VerifyEmail', { userId: 'bob', verificationCode }, { url: restored.house.url })
    expect((await verify(life.code)).error).toMatchObject({ code: 3 })
    await expect.poll(() => restored.admin`select from roster_users.surplus_sessions`).toEqual([])
    const ended =
      await restored.admin`select from roster_users.events where aggregate_type = 'session' and type = 'ended'`
    expect(ended).toHaveLength(1)
    const { verificationCode } = await restored.act('ResendEmailCode', { userId: 'bob', returnCode: {} })
    expect((await verify(verificationCode)).error).toBeUndefined()
  })

  test('lets no one end them while users runs', async () => {
    const { status, err } = await restored.roster('sessions', 'end', '--yes')
    expect([status, err]).toEqual([2, 'users runs: stop it first\n'])
  })

  test('has taken away again what the receipts and the stream of before say', async () => {
    expect((await restored.roster('forgotten', 'eve')).status).toBe(1)
    await forgeRemoval('ada')
    const file = (name: string, text: string) => {
      writeFileSync(join(before.folder, name), text)
      return join(before.folder, name)
    }
    const ran = await inProject(`${documentLines('backup.md', 'repeat-removals').trim()} --yes`, {
      ...over.settings,
      ROSTER_OPERATOR_NATS_URL: first.settings['ROSTER_OPERATOR_NATS_URL']!,
      URL: restored.house.url,
      TOKEN: file('token', restored.house.adminToken),
      RECEIPTS: file('receipts', `${kept.receipt}\n`),
      KEYS: file('keys', kept.keys),
    })
    const rows = ran
      .split('\n')
      .flatMap((line) => /^(\S+\.\w+) +(\S+) +(done|is gone)$/.exec(line)?.slice(1, 4).join(' ') ?? [])
    // The stream orders the events of one service alone.
    expect(rows.map((row) => row.replace(/\S+-\S+/, 'UUID')).toSorted()).toEqual([
      'member.removed UUID done',
      'user.locked bob done',
      'user.pat.removed robot done',
      'user.removed eve done',
      'user.removed eve is gone',
    ])
    expect(await works(restored, life.pat)).toBe(false)
    await expect.poll(async () => (await restored.roster('forgotten', 'eve')).status).toBe(0)
  })

  // What a captured idp can do: it owns its subjects and its schema.
  async function forgeRemoval(userId: string) {
    await restored.admin`
      insert into roster_idp.aggregates values ('user', ${userId}, 'o', 1, now(), now(), '{}')
    `
    const idp = await connectNats(first.servers.natsUrl.idp, 'idp', silent)
    const event = { specversion: '1.0', id: 'idp-99', subject: `user/${userId}`, type: 'roster.user.removed.v1' }
    const headers = natsHeaders(Object.fromEntries(Object.entries(event).map(([name, value]) => [`ce-${name}`, value])))
    await idp.connection.request(`roster.events.idp.o.user.${userId}.removed`, '{}', { headers, timeout: 5000 })
    await idp.connection.close()
  }

  test('is restored without the personal part, once that was deleted', async () => {
    const url = after.url.replace(/roster$/, 'impersonal')
    const lines = documentLines('backup.md', 'restore-without-personal')
    await inProject('npm run -s provision', {
      DATABASE_URL: url,
    })
    await after.shell(lines, { DATABASE_URL: url, BACKUP: backup })
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    const [row] = await sql`
      select (select count(*)::int from roster_users.subject_keys) as keys,
        (select count(*)::int from roster_users.aggregates where type = 'user') as users
    `
    await sql.end()
    expect(row).toEqual({ keys: 0, users: 7 })
  })
})

// As a restore that broke off may leave them.
async function spoilIndexes(url: string): Promise<void> {
  const sql = postgres(url, { max: 1 })
  await sql`drop index roster_users.found_users_by_text`
  await sql`update pg_index set indisvalid = false where indexrelid = 'roster_users.found_addresses_by_text'::regclass`
  await sql.end()
}

/** A connection as one of a replica that logs in as `roster_users_2`, which docs/operations.md makes. */
async function asSecondUser(url: string) {
  const admin = postgres(url, { max: 1 })
  await admin`create role roster_users_2 login password 'second' in role roster_users`
  await admin.end()
  const connection = { application_name: `roster-users ${roster.version}` }
  const second = postgres(url.replace('postgres:secret', 'roster_users_2:second'), { max: 1, connection })
  await second`select 1`
  return second
}
