import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { expect, vi } from 'vitest'
import { callGrpc } from '../e2e/clients/grpc.ts'
import { ok, profile, unique, uniqueEmail } from '../examples/people.ts'
import { startHouse } from '../house.ts'
import { startTestServers, type TestServers } from '../infra.ts'
import { operatorSettings, type Ran, runOperator, spawnOperator } from './operator.ts'

/** The database of a Roster that was stopped, with some signed checkpoints of the users service. */
export interface AuditedHouse {
  admin: postgres.Sql
  servers: TestServers
  /** A folder with the file `kept.jsonl`: what `checkpoints` wrote. */
  folder: string
  kept: string
  roster(...args: string[]): Promise<Ran>
  /** Calls the command with a heap of so many megabytes. */
  rosterWithin(megabytes: number, ...args: string[]): Promise<Ran>
  /** Writes a file of lines as `checkpoints` does, outside of that folder, and returns its path. */
  keep(name: string, ...lines: object[]): Promise<string>
  /** Calls `verify --audit --json`, and returns the findings of the users service. */
  found(...args: string[]): Promise<{ row: string; problem: string }[]>
  /** Runs statements as the role of the users service, which owns the tables. */
  asUsers(statements: string): Promise<void>
  /** Changes the tables, and restores them after `work`. */
  changed(change: () => PromiseLike<unknown>, work: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

const tables = ['events', 'aggregates', 'audit_chain', 'audit_pages', 'audit_checkpoints', 'audit_keys']

/** Starts Roster, lets it work until it has signed some checkpoints, and stops it: nothing changes by itself then. */
export async function startAuditedHouse(): Promise<AuditedHouse> {
  const folder = await mkdtemp(join(tmpdir(), 'roster-audited-'))
  const elsewhere = await mkdtemp(join(tmpdir(), 'roster-elsewhere-'))
  const kept = join(folder, 'kept.jsonl')
  const started = await startTestServers()
  const { servers } = started
  const admin = postgres(servers.databaseUrl, {
    max: 2,
    onnotice: () => {},
    connection: { search_path: 'roster_users' },
  })
  const roster = (...args: string[]) => runOperator(args, operatorSettings(servers))
  const house = await startHouse(
    servers.serviceDatabaseUrls,
    { WRITES_PER_CALLER: '100000', CHECKPOINT_INTERVAL: '1' },
    { servers },
  )
  try {
    await vi.waitFor(
      async () => {
        const act = async (operation: 'AddHumanUser' | 'SetEmail', request: Parameters<typeof callGrpc>[1]) =>
          ok(await callGrpc(operation, request, { url: house.url, token: house.adminToken }))
        const request = { userName: unique('human'), profile, email: { email: uniqueEmail() } }
        const { userId } = await act('AddHumanUser', request)
        await act('SetEmail', { userId: userId!, email: uniqueEmail() })
        await act('SetEmail', { userId: userId!, email: uniqueEmail() })
        expect((await admin`select from audit_checkpoints`).count).toBeGreaterThan(2)
        expect((await admin`select from events where type = 'email.changed'`).count).toBeGreaterThan(15)
      },
      { timeout: 60_000 },
    )
    await everythingIsSigned(admin)
  } finally {
    await house.stop()
  }
  await writeFile(kept, (await roster('checkpoints')).out)
  await admin`create schema kept`
  for (const table of tables) await admin.unsafe(`create table kept.${table} as table ${table}`)

  return {
    admin,
    servers,
    folder,
    kept,
    roster,
    rosterWithin: (megabytes, ...args) =>
      spawnOperator(args, { ...operatorSettings(servers), NODE_OPTIONS: `--max-old-space-size=${megabytes}` }),
    async found(...args) {
      const ran = await roster('verify', '--audit', '--json', ...args)
      const all = ran.status === 2 ? [{ service: 'users', row: 'status 2', problem: ran.err }] : ran.json()
      return all.filter(({ service }) => service === 'users').map(({ row, problem }) => ({ row, problem }))
    },
    async asUsers(statements) {
      await admin.begin(async (sql) => {
        await sql`set local role roster_users`
        await sql.unsafe(statements)
      })
    },
    async keep(name, ...lines) {
      const file = join(elsewhere, name)
      await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      return file
    },
    async changed(change, work) {
      try {
        await change()
        await work()
      } finally {
        await admin.begin(async (sql) => {
          for (const table of tables) {
            await sql.unsafe(`delete from ${table}`)
            await sql.unsafe(`insert into ${table} overriding system value table kept.${table}`)
          }
        })
      }
    },
    async stop() {
      await admin.end()
      await started.stop()
      for (const one of [folder, elsewhere]) await rm(one, { recursive: true, force: true })
    },
  }
}

/** Waits until a checkpoint covers every event of the users service. */
export async function everythingIsSigned(admin: postgres.Sql): Promise<void> {
  await vi.waitFor(
    async () => {
      const [row] = await admin`
        select (select count(*) from roster_users.events) = c.events
          and c.page = (select max(page) from roster_users.audit_checkpoints) as whole
        from roster_users.audit_chain c
      `
      expect(row!['whole']).toBe(true)
    },
    { timeout: 30_000 },
  )
}
