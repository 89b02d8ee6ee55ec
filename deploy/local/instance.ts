import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Home } from './home.ts'
import { isAlive, startTimeOf } from './pid-files.ts'

/** This process' claim on a home folder. */
export interface Instance {
  /** Records for later starts where this one is reached. */
  announce(url: string): void
  release(): void
}

/** Claims the folder for this process; throws one sentence when another living process has it. */
export function claimInstance(home: Home): Instance {
  const file = join(home.dir, 'start.pid')
  const mine = { pid: process.pid, started: startTimeOf(process.pid) ?? '', url: '' }
  const write = (flag: 'w' | 'wx') => writeFileSync(file, JSON.stringify(mine), { flag })
  try {
    write('wx')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const other = read(file)
    if (other && isAlive(other)) {
      throw new AlreadyRunning(
        `Roster runs already: process ${other.pid}${other.url && `, ${other.url}`}; stop that one first.`,
      )
    }
    write('w')
  }
  return {
    announce: (url) => {
      mine.url = url
      write('w')
    },
    release: () => rmSync(file, { force: true }),
  }
}

/** Another process has the folder: nothing of it may be touched. */
export class AlreadyRunning extends Error {}

function read(file: string): { pid: number; started: string; url: string } | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { pid: number; started: string; url: string }
  } catch {
    return undefined
  }
}
