import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The content of a pid file. `started` distinguishes a process from a later one that got the same pid. */
export interface PidEntry {
  name: string
  kind: 'service' | 'server'
  pid: number
  started: string
  stopSignal: NodeJS.Signals
}

export function writePidFile(runDir: string, entry: Omit<PidEntry, 'started'>): void {
  const started = startTimeOf(entry.pid) ?? ''
  writeFileSync(fileOf(runDir, entry.name), JSON.stringify({ ...entry, started }))
}

/** Removes the pid file when it is still that process' own. */
export function removePidFile(runDir: string, name: string, pid: number): void {
  if (read(fileOf(runDir, name))?.pid === pid) rmSync(fileOf(runDir, name), { force: true })
}

/** Stops the living processes that the pid files of a run folder name: services, then servers. Returns their names. */
export async function stopStale(runDir: string): Promise<string[]> {
  const entries = readAll(runDir)
  const alive = entries.filter(isAlive)
  await stopAll(alive.filter((entry) => entry.kind === 'service'))
  await stopAll(alive.filter((entry) => entry.kind === 'server'))
  for (const entry of entries) removePidFile(runDir, entry.name, entry.pid)
  return alive.map((entry) => entry.name)
}

/** Kills the processes that the pid files of a run folder name, without waiting. */
export function killNow(runDir: string): void {
  for (const entry of readAll(runDir).filter(isAlive)) send(entry, 'SIGKILL')
}

/** True while that very process lives. */
export function isAlive(entry: { pid: number; started: string }): boolean {
  return entry.started !== '' && startTimeOf(entry.pid) === entry.started
}

/**
 * The time when a process began, in a form that is only good for comparing. Undefined when there is no process, or
 * only its zombie.
 */
export function startTimeOf(pid: number): string | undefined {
  try {
    if (!existsSync('/proc/self/stat')) {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
    }
    // The second field is the program's name in brackets and may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

async function stopAll(entries: PidEntry[]): Promise<void> {
  for (const entry of entries) send(entry, entry.stopSignal)
  const deadline = Date.now() + 10_000
  while (entries.some(isAlive) && Date.now() < deadline) await sleep(50)
  for (const entry of entries.filter(isAlive)) send(entry, 'SIGKILL')
  while (entries.some(isAlive) && Date.now() < deadline + 2_000) await sleep(20)
}

function send(entry: PidEntry, signal: NodeJS.Signals): void {
  try {
    process.kill(entry.pid, 'SIGCONT')
    process.kill(entry.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function readAll(runDir: string): PidEntry[] {
  const files = readdirSync(runDir).filter((file) => file.endsWith('.pid'))
  return files.flatMap((file) => read(join(runDir, file)) ?? [])
}

function read(file: string): PidEntry | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as PidEntry
  } catch {
    return undefined
  }
}

function fileOf(runDir: string, name: string): string {
  return join(runDir, `${name}.pid`)
}
