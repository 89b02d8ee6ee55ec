import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { everythingIsSigned } from '#test/support/audited-house'
import { type OperatedHouse, startOperatedHouse } from '#test/support/operated-house'
import { profile, unique, uniqueEmail } from '../../../../test/examples/people.ts'

let there: OperatedHouse
let folder: string
let kept: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roster-kept-'))
  kept = join(folder, 'kept.jsonl')
  there = await startOperatedHouse({ WRITES_PER_CALLER: '100000', CHECKPOINT_INTERVAL: '1' }, { replicas: 2 })
}, 120_000)
afterAll(async () => {
  await there?.stop()
  await rm(folder, { recursive: true, force: true })
})

const roster: OperatedHouse['roster'] = (...args) => there.roster(...args)
const verify = (...args: string[]) => roster('verify', '--audit', '--json', ...args)

async function write(over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const { userId } = await there.act('AddHumanUser', {
      userName: unique('human'),
      profile,
      email: { email: uniqueEmail() },
    })
    await there.act('SetEmail', { userId: userId, email: uniqueEmail() })
    await there.act('DeleteUser', { userId: userId })
  }
}

test('a healthy Roster has nothing that differs, under load, against checkpoints that were kept before', async () => {
  const over = new AbortController()
  const writing = Promise.all(Array.from({ length: 4 }, () => write(over.signal)))
  try {
    await vi.waitFor(async () => expect((await there.admin`select from roster_users.audit_checkpoints`).count).toBeGreaterThan(2), { timeout: 30_000 }) // prettier-ignore
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
  await everythingIsSigned(there.admin)
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
