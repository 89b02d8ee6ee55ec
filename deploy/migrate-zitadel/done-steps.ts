import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Report } from './report.ts'

/** Remembers which steps are finished, in a file. Without a file it remembers nothing. */
export interface DoneSteps {
  /** Does the step, unless it was finished before. A step in which something was refused is not finished. */
  once(step: string, act: () => Promise<void>): Promise<void>
}

/** Throws an Error for a file that another migration wrote. */
export function openDoneSteps(
  file: string | undefined,
  migration: { from: string; to: string },
  report: Report,
): DoneSteps {
  if (file === undefined) return { once: (_, act) => act() }
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Written) : { ...migration, done: [] }
  if (known.from !== migration.from || known.to !== migration.to || !Array.isArray(known.done))
    throw new Error(`--state: ${file} is of another migration.`)
  const done = new Set(known.done)
  return {
    async once(step, act) {
      if (done.has(step)) return
      const before = report.refusals()
      await act()
      if (report.refusals() > before) return
      done.add(step)
      // Whoever stops the process in between leaves the file of before.
      writeFileSync(`${file}.new`, JSON.stringify({ ...migration, done: [...done] }), { mode: 0o600 })
      renameSync(`${file}.new`, file)
    },
  }
}

interface Written {
  from: string
  to: string
  done: string[]
}
