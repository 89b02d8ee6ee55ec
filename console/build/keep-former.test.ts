import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { keepFormer } from './keep-former.ts'

const day = 24 * 60 * 60 * 1000

test('files of former builds stay for a month, and those of this build for as long as it is', () => {
  const dir = mkdtempSync(join(tmpdir(), 'roster-assets-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, 'assets'))
  const ages = { 'a.1.js': 40, 'a.1.js.br': 40, 'b.2.js': 29, 'c.3.js': 31, 'c.3.js.gz': 31 }
  for (const [name, days] of Object.entries(ages)) {
    writeFileSync(join(dir, 'assets', name), '')
    const then = new Date(Date.now() - days * day)
    utimesSync(join(dir, 'assets', name), then, then)
  }
  const { writeBundle } = keepFormer() as { writeBundle: (options: object, files: object) => void }
  writeBundle({ dir }, { 'assets/a.1.js': {} })
  expect(readdirSync(join(dir, 'assets')).sort()).toEqual(['a.1.js', 'a.1.js.br', 'b.2.js'])
})
