import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { answerOperator, operatorSettings } from '#test/support/operator'
import { commands } from './commands.ts'

let house: AuditedHouse
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roster-terminal-test-'))
  house = await startAuditedHouse()
}, 120_000)
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await house?.stop()
})
afterEach(() => house.admin`truncate parked_events, parked_for_followers`.then(() => {}))

const roster = (...args: string[]) => house.roster(...args)
const answer = (text: string, ...args: string[]) => answerOperator(text, args, operatorSettings(house.servers))
const park = () => house.admin`insert into parked_events (position, reason) values (1, 'a reason'), (2, 'a reason')`
const parked = async () => [...(await house.admin`select position::int, retry from parked_events order by position`)]
const [one, two] = [
  { position: 1, retry: false },
  { position: 2, retry: false },
]

test.each([
  ['yes\n', 0, 'users-1: done\n', [two]],
  ['no\n', 2, '', [one, two]],
  ['\n', 2, '', [one, two]],
  ['', 2, '', [one, two]],
])('at a terminal, the answer %j to the question ends with %i', async (text, status, out, left) => {
  await park()
  const ran = await answer(text, 'parked', 'drop', 'users-1')
  expect(ran).toMatchObject({ status, out })
  expect(ran.err).toContain('One event will never reach the stream or the follower. Type yes to go on: ')
  expect(await parked()).toEqual(left)
})

test.each(['drop', 'retry'])('parked %s takes either IDs or --all, and else does nothing', async (name) => {
  await park()
  const ran = await roster('parked', name, 'users-1', '--all', '--yes')
  expect(ran).toMatchObject({ status: 2, out: '', err: expect.stringContaining('Nothing was done') })
  expect(await parked()).toEqual([one, two])
})

test('verify tells its progress on the standard error, and removes it from a terminal', async () => {
  const { out, err } = await roster('verify', 'grants', '--without-stream')
  expect(out).toBe('Nothing differs.\n')
  expect(err).toMatch(/^grants: \d+ of \d+ objects\n/)
  const shown = await answer('', 'verify', 'grants', '--without-stream')
  expect(shown).toMatchObject({ out, err: expect.stringMatching(/^grants: \d+ of \d+ objects/) })
  expect(shown.err.endsWith('\r\u001B[K')).toBe(true)
})

describe('with --json, nothing but JSON is on the standard output', () => {
  /** The arguments behind each command's name, and the fields of the first line. */
  const calls: Record<string, [args: () => string[] | Promise<string[]>, fields: string[]]> = {
    status: [() => [], ['attention', 'tails']],
    'parked list': [() => [], ['id', 'reason']],
    'parked retry': [() => ['--all'], ['id', 'done']],
    'parked drop': [() => ['--all', '--yes'], ['id', 'done']],
    republish: [() => ['notifier', '--yes'], ['service', 'sent']],
    verify: [withFinding, ['service', 'row', 'problem']],
    checkpoints: [() => ['users'], ['kind']],
    export: [() => ['default'], ['kind', 'organization']],
    forgotten: [async () => [await anyUser()], ['user', 'forgotten', 'stores']],
    receipt: [receipt, ['verified']],
    'keys rotate': [rotation, ['step', 'next']],
  }

  test('of every command', () =>
    expect(Object.keys(calls).toSorted()).toEqual(commands.map(({ name }) => name).toSorted()))

  test.each(Object.entries(calls))('of %s', async (name, [args, fields]) => {
    await park()
    const { status, json } = await roster(...name.split(' '), ...(await args()), '--json')
    expect(status).not.toBe(2)
    const [first] = json()
    expect(Object.keys(first)).toEqual(expect.arrayContaining(fields))
  })

  const anyUser = async () =>
    String((await house.admin`select id from aggregates where type = 'user' limit 1`)[0]!['id'])

  async function withFinding() {
    await house.admin`delete from unique_keys where aggregate_id in (select id from aggregates where type = 'user' limit 1)`
    return ['users', '--without-stream']
  }

  function receipt(): string[] {
    const files = ['receipt', 'keys.json'].map((name) => join(folder, name))
    writeFileSync(files[0]!, 'no receipt')
    writeFileSync(files[1]!, '{"keys":[]}')
    return files
  }

  function rotation(): string[] {
    const file = join(folder, 'root')
    writeFileSync(file, 'x'.repeat(43))
    return ['--root', file]
  }
})
