import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A limit of memory for a process, its children and what the kernel keeps for them. */
export interface MemoryLimit {
  /** Starts a program within the limit: put before it. */
  under: string[]
  /** The most bytes so far. */
  peak(): number
  /** How often the kernel killed a process because of it. */
  kills(): number
  remove(): void
}

const root = '/sys/fs/cgroup'
const v2 = {
  folder: root,
  limits: ['memory.max', 'memory.swap.max'],
  peak: 'memory.peak',
  events: 'memory.events',
}
const v1 = {
  folder: join(root, 'memory'),
  limits: ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes'],
  peak: 'memory.max_usage_in_bytes',
  events: 'memory.oom_control',
}

/** Makes a control group of Linux. Undefined where this machine lets nobody make one. */
export function limitMemory(name: string, bytes: number): MemoryLimit | undefined {
  const version = [v2, v1].find(
    ({ folder, peak }) => existsSync(join(folder, peak)) || existsSync(join(folder, 'tasks')),
  )
  if (!version || process.getuid?.() !== 0) return undefined
  const group = join(version.folder, `roster-test-${process.pid}-${name}`)
  const read = (file: string) => readFileSync(join(group, file), 'utf8')
  try {
    mkdirSync(group)
    writeFileSync(join(group, version.limits[0]!), String(bytes))
  } catch {
    return undefined
  }
  // A kernel without swap has no limit of it.
  if (existsSync(join(group, version.limits[1]!)))
    writeFileSync(join(group, version.limits[1]!), version === v2 ? '0' : String(bytes))
  return {
    under: ['/bin/sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh'],
    peak: () => Number(read(version.peak)),
    kills: () => Number(/^oom_kill (\d+)/m.exec(read(version.events))?.[1] ?? 0),
    remove: () => rmdirSync(group),
  }
}
