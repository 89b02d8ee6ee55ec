import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { everythingIsSigned } from '#test/support/audited-house'
import { operatorSettings, type Ran, runOperator } from '#test/support/operator'
import { callGrpc } from '../../../../test/e2e/clients/grpc.ts'
import { ok, profile, unique, uniqueEmail } from '../../../../test/examples/people.ts'
import { type House, startHouse } from '../../../../test/house.ts'
import { startTestServers } from '../../../../test/infra.ts'

let started: Awaited<ReturnType<typeof startTestServers>>
let house: House
let admin: postgres.Sql
let folder: string
let kept: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roster-kept-'))
  kept = join(folder, 'kept.jsonl')
  started = await startTestServers()
  const { servers } = started
  house = await startHouse(servers.serviceDatabaseUrls, { WRITES_PER_CALLER: '100000', CHECKPOINT_INTERVAL: '1' }, { servers, replicas: 2 }) // prettier-ignore
  admin = postgres(servers.databaseUrl, { max: 2, onnotice: () => {}, connection: { search_path: 'roster_users' } })
}, 120_000)
afterAll(async () => {
  await house?.stop()
  await admin?.end()
  await started?.stop()
  await rm(folder, { recursive: true, force: true })
})

const roster = (...args: string[]): Promise<Ran> => runOperator(args, operatorSettings(started.servers))
const verify = (...args: string[]) => roster('verify', '--audit', '--json', ...args)

async function write(over: AbortSignal): Promise<void> {
  const act = async (operation: 'AddHumanUser' | 'SetEmail' | 'DeleteUser', request: Parameters<typeof callGrpc>[1]) =>
    ok(await callGrpc(operation, request, { url: house.url, token: house.adminToken }))
  while (!over.aborted) {
    const { userId } = await act('AddHumanUser', {
      userName: unique('human'),
      profile,
      email: { email: uniqueEmail() },
    })
    await act('SetEmail', { userId: userId!, email: uniqueEmail() })
    await act('DeleteUser', { userId: userId! })
  }
}

test('a healthy Roster has nothing that differs, under load, against checkpoints that were kept before', async () => {
  const over = new AbortController()
  const writing = Promise.all(Array.from({ length: 4 }, () => write(over.signal)))
  try {
    await vi.waitFor(async () => expect((await admin`select from audit_checkpoints`).count).toBeGreaterThan(2), { timeout: 30_000 }) // prettier-ignore
    const { status, out } = await roster('checkpoints')
    expect(status).toBe(0)
    await writeFile(kept, out)
    for (let i = 0; i < 3; i++) {
      const found = await verify('--checkpoints', kept, '--keys', kept)
      expect({ status: found.status, out: found.out }).toEqual({ status: 0, out: '' })
    }
  } finally {
    over.abort()
    await writing
  }
  await everythingIsSigned(admin)
  expect((await roster('verify', '--audit')).out).toMatch(
    /^users: \d+ events in the chain; signed up to event \d+ at /m,
  )
  expect((await roster('verify', '--audit')).out).toMatch(/\nNothing differs\.\n$/)
  expect((await roster('verify')).out).toBe('Nothing differs.\n')
})

test('--checkpoints names a file that is there and has checkpoints', async () => {
  expect((await verify('--checkpoints', join(folder, 'none'))).status).toBe(2)
  await writeFile(join(folder, 'empty'), '{}\n')
  expect((await verify('--checkpoints', join(folder, 'empty'))).err).toContain('has no checkpoint')
  await rm(join(folder, 'empty'))
  expect((await roster('verify', '--checkpoints', kept)).err).toContain('go with --audit')
})
