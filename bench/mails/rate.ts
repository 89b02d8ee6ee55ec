import { cpuTime } from '../cpu.ts'

/** Mails per second, and CPU time in microseconds of a mail, by process. */
export interface Rate {
  rate: number
  cpu: Record<string, number>
}

/**
 * Counts the CPU time of these processes, by name, and that of this one as that of the mail server. The function that it
 * gives ends it, for mails that came at these times.
 */
export function rateOf(pids: Record<string, number>): (arrivals: number[], more?: Record<string, number>) => Rate {
  const read = () => Object.entries(pids).map(([name, pid]) => [name, cpuTime(pid)] as const)
  const before = new Map(read())
  const own = process.cpuUsage()
  return (arrivals, more = {}) => {
    const { user, system } = process.cpuUsage(own)
    const used = [
      ...Object.entries(more),
      ...read().map(([name, after]) => [name, after - before.get(name)!] as const),
      ['sink', user + system] as const,
    ]
    const [first, last] = [arrivals.reduce((a, b) => Math.min(a, b)), arrivals.reduce((a, b) => Math.max(a, b))]
    return {
      rate: (arrivals.length - 1) / ((last - first) / 1000),
      cpu: Object.fromEntries(used.map(([name, cpu]) => [name, cpu / arrivals.length])),
    }
  }
}
