import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAuditKey } from '#lib/audit-log/checkpoint'
import { readKeys } from './kept.ts'

let file: string
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roster-kept-'))
  file = join(folder, 'kept.jsonl')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const { key } = makeAuditKey()
const line = JSON.stringify({ kind: 'key', service: 'users', key })

test('keys are read from lines and from a set, be it written on one line or on many', async () => {
  const set = { keys: [{ ...key, service: 'users' }] }
  for (const text of [`\n${line}\n`, JSON.stringify(set), JSON.stringify(set, undefined, 2)]) {
    await writeFile(file, text)
    expect(readKeys(file)('users')).toMatchObject([key])
    expect(readKeys(file)('grants')).toEqual([])
  }
})
