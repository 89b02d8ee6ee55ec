import { readFileSync } from 'node:fs'

/** Memory of a process in MB. */
export interface Memory {
  /** All that is in memory. */
  rss: number
  /** The same, but of pages that processes share, its part: only these can be added up. */
  pss: number
}

/** Reads the memory of a process. */
export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
  const read = (name: string) => (Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(text)![1]) * 1024) / 1e6
  return { rss: read('Rss'), pss: read('Pss') }
}
