import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Shares of a process's busy time, by the part of the code that used it. They add up to 1. */
export type Parts = Record<string, number>

/** Reads the CPU profiles in the folder. Gives the parts by the process's name. */
export function readParts(folder: string, pids: Record<string, number[]>): Record<string, Parts> {
  const files = readdirSync(folder)
  const parts: Record<string, Parts> = {}
  for (const [name, [pid]] of Object.entries(pids)) {
    const file = files.find((file) => file.includes(`.${pid}.`) && file.endsWith('.cpuprofile'))
    if (file) parts[name] = partsOf(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile)
  }
  return parts
}

interface Profile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

interface Frame {
  functionName: string
  url: string
}

/** The start of a process does not count, nor the time in which it waits. */
const uncounted = ''

function partsOf({ nodes, samples, timeDeltas }: Profile): Parts {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const partOf = new Map<number, string>()
  // A node stands behind its parent.
  for (const { id, callFrame } of nodes) partOf.set(id, nameOf(callFrame, partOf.get(parents.get(id) ?? -1)))
  const times: Record<string, number> = {}
  for (const [index, id] of samples.entries()) {
    const part = partOf.get(id)!
    if (part !== uncounted) times[part] = (times[part] ?? 0) + timeDeltas[index]!
  }
  const all = Object.values(times).reduce((sum, time) => sum + time, 0)
  return Object.fromEntries(Object.entries(times).map(([part, time]) => [part, time / all]))
}

function nameOf({ functionName: name, url }: Frame, caller: string | undefined): string {
  if (name === '(idle)' || caller === uncounted || /^node:internal\/(main|modules)\b/.test(url)) return uncounted
  if (name === '(garbage collector)') return 'garbage collection'
  if (/^write(v|Buffer|Utf8String|Latin1String|String)$/.test(name) && url === '') return 'writes to sockets'
  // A function of the engine belongs to its caller.
  if (url === '') return caller ?? 'node'
  const [, dependency] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  const [, own] = /\/(lib\/[^/.]+|services|gen)\b[^/]*/.exec(url) ?? []
  return dependency ?? own ?? 'node'
}
