import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeKeys } from './compose-keys.ts'
import { replaceFile } from './replace-file.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'roster-replace-test-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('what a killed process left behind hinders no other process, also where each process has the same id', () => {
  const file = join(folder, 'root')
  // No user can write into it, whoever runs this test.
  mkdirSync(`${file}.${process.pid}.new`)
  for (const name of ['users', 'grants', 'idp', 'notifier', 'gateway', 'operator']) mkdirSync(join(folder, name))
  writeKeys(file, folder, '')
  expect(readFileSync(file, 'utf8')).toMatch(/^\S{44}\n$/)
  replaceFile(file, 'new\n', 0o400)
  expect(readFileSync(file, 'utf8')).toBe('new\n')
})

test('a file that cannot be replaced leaves nothing behind', () => {
  mkdirSync(join(folder, 'root', 'full'), { recursive: true })
  expect(() => replaceFile(join(folder, 'root'), 'a secret', 0o400)).toThrow(/EISDIR|ENOTEMPTY|EEXIST/)
  expect(readdirSync(folder)).toEqual(['root'])
})
