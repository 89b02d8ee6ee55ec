import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openStateFile } from './state-file.ts'
import { createReport } from './report.ts'

const migration = { from: 'https://zitadel.example.com', to: 'https://roster.example.com', dry: false }
let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'roster-steps-'))
  file = join(folder, 'state')
})
afterEach(() => rmSync(folder, { recursive: true }))

const newReport = () => createReport({ out: () => {}, say: () => {} }, false)

/** Does the step in a new run. Returns whether the step was done. */
async function does(step: string, act: () => void = () => {}, report = newReport()): Promise<boolean> {
  let done = false
  await openStateFile(file, migration, report).once(step, async () => {
    done = true
    act()
  })
  return done
}

describe('with a state file', () => {
  test('the next run knows which organizations were added, and a dry run writes nothing', async () => {
    const dry = openStateFile(file, { ...migration, dry: true }, newReport())
    await dry.once('one', async () => {})
    expect(existsSync(file)).toBe(false)
    openStateFile(file, migration, newReport()).adds('org')
    const next = openStateFile(file, migration, newReport())
    expect([next.hasAdded('org'), next.hasAdded('other')]).toEqual([true, false])
  })

  test('the next run does not repeat a finished step', async () => {
    expect([await does('one'), await does('one'), await does('two'), await does('one')]).toEqual([
      true,
      false,
      true,
      false,
    ])
  })

  test('a step that failed, and one in which something was refused, is done again', async () => {
    const fail = () => {
      throw new Error('away')
    }
    await expect(does('one', fail)).rejects.toThrow('away')
    const report = newReport()
    expect(await does('one', () => report.refused('user', 'u', 'no'), report)).toBe(true)
    expect(await does('one')).toBe(true)
    expect(await does('one')).toBe(false)
  })

  test('after a run that came to its end, the next one does every step', async () => {
    await does('one')
    openStateFile(file, migration, newReport()).finish()
    expect(await does('one')).toBe(true)
  })

  test('that of another migration is refused', async () => {
    await does('one')
    const elsewhere = { ...migration, to: 'https://other.example.com' }
    expect(() => openStateFile(file, elsewhere, newReport())).toThrow('is of another migration')
    writeFileSync(file, '{}')
    expect(() => openStateFile(file, migration, newReport())).toThrow('is of another migration')
  })
})
