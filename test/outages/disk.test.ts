import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { canHaveDisks, makeDisk, whyNoDisks } from './disk.ts'

test.skipIf(!canHaveDisks())(`a power cut takes what was not flushed, and leaves what was${whyNoDisks}`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'roster-disk-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const place = join(folder, 'place')
  const disk = await makeDisk(join(folder, 'disk'), place, 64)
  onTestFinished(() => disk.remove())
  const [kept, lost] = [join(place, 'kept'), join(place, 'lost')]
  const text = 'a line\n'.repeat(10_000)
  writeFileSync(kept, text, { flush: true })
  execFileSync('sync', ['-f', place])
  writeFileSync(lost, text)
  // The next program that asks sees it: it is in the kernel's memory.
  expect(readFileSync(lost, 'utf8')).toBe(text)
  await disk.cut()
  await disk.plugIn()
  expect(readFileSync(kept, 'utf8')).toBe(text)
  expect(existsSync(lost) && readFileSync(lost, 'utf8') === text).toBe(false)
})
