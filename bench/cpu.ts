import { readdirSync, readFileSync } from 'node:fs'

// USER_HZ, the unit of /proc, which is fixed in Linux.
const ticksPerSecond = 100

/** CPU time (user and system) that a process and its children have used, in microseconds. */
export function cpuTime(pid: number): number {
  return cpuTimes([pid])[0]!
}

/** The same of several processes, by one look at all that there are. */
export function cpuTimes(pids: number[]): number[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
  return pids.map((pid) => {
    const own = readStat(pid)
    if (!own) return NaN
    const children = all.filter((stat) => stat?.parent === pid)
    const ticks = children.reduce((sum, child) => sum + child!.ticks, own.ticks + own.ticksOfEnded)
    return (ticks / ticksPerSecond) * 1e6
  })
}

function readStat(pid: number): { parent: number; ticks: number; ticksOfEnded: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may contain anything. The field after it is the third.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const field = (number: number) => Number(fields[number - 3])
    return { parent: field(4), ticks: field(14) + field(15), ticksOfEnded: field(16) + field(17) }
  } catch {
    return undefined
  }
}
