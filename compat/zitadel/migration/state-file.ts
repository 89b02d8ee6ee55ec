import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Report } from './report.ts'

/** Remembers in a file what this migration did, so that another run goes on. */
export interface StateFile {
  /** Whether this migration added the organization to Roster, or was about to. */
  hasAdded(organization: string): boolean
  /** Remembers that the organization, which is not there yet, is added now. */
  adds(organization: string): void
  /** Does the step, unless it was finished before. A step in which something was refused is not finished. */
  once(step: string, act: () => Promise<void>): Promise<void>
  /** The run came to its end: the next one does every step again, and so moves what is new. */
  finish(): void
}

/** Throws an Error for a file that another migration wrote. A dry run does every step and writes nothing. */
export function openStateFile(
  file: string,
  { from, to, dry }: { from: string; to: string; dry: boolean },
  report: Report,
): StateFile {
  const known = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Written)
    : { from, to, organizations: [], done: [] }
  const isWhole = Array.isArray(known.organizations) && Array.isArray(known.done)
  if (known.from !== from || known.to !== to || !isWhole)
    throw new Error(`The state file ${file} is of another migration: name another one by --state.`)
  const [organizations, done] = [new Set(known.organizations), new Set(known.done)]

  // Somebody who stops the process in between leaves the file of before.
  function write(): void {
    const text = JSON.stringify({ from, to, organizations: [...organizations], done: [...done] }, undefined, 2)
    mkdirSync(dirname(file), { recursive: true, mode: 0o711 })
    writeFileSync(`${file}.new`, text, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  return {
    hasAdded: (organization) => organizations.has(organization),
    adds(organization) {
      organizations.add(organization)
      write()
    },
    async once(step, act) {
      if (dry) return act()
      if (done.has(step)) return
      const before = report.refusals()
      await act()
      if (report.refusals() > before) return
      done.add(step)
      write()
    },
    finish() {
      done.clear()
      if (!dry) write()
    },
  }
}

interface Written {
  from: string
  to: string
  organizations: string[]
  done: string[]
}
