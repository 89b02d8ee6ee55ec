import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Home } from './home.ts'
import { isAlive, startTimeOf } from './pid-files.ts'

/** This process' claim on a home folder. */
export interface Instance {
  /** Records for later starts, and for the examples, where this one is reached. */
  announce(at: Addresses): void
  release(): void
}

interface Addresses {
  /** Where the gateway is reached from this machine. Empty while it comes up. */
  url: string
  /** The address that clients have of it. */
  publicUrl: string
}

interface Entry extends Addresses {
  pid: number
  started: string
}

/** Claims the folder for this process; throws one sentence when another living process has it. */
export function claimInstance(home: Home): Instance {
  const file = fileIn(home.dir)
  const mine: Entry = { pid: process.pid, started: startTimeOf(process.pid) ?? '', url: '', publicUrl: '' }
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
    announce: (at) => {
      Object.assign(mine, at)
      write('w')
    },
    release: () => rmSync(file, { force: true }),
  }
}

/** Another process has the folder: nothing of it may be touched. */
export class AlreadyRunning extends Error {}

/** Where the Roster that runs in this folder is reached. Undefined where none does, or it is not up yet. */
export function runningInstance(dir: string): Addresses | undefined {
  const entry = read(fileIn(dir))
  return entry && entry.url !== '' && isAlive(entry) ? entry : undefined
}

function read(file: string): Entry | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Entry
  } catch {
    return undefined
  }
}

function fileIn(dir: string): string {
  return join(dir, 'start.pid')
}
