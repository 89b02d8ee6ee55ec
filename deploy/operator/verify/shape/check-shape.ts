import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../../provision.ts'
import { knownShape } from '../../known-shape.ts'
import type { Finding } from '../finding.ts'
import { type Part, readShape, wholeSchema } from './read-shape.ts'

/** How the tables of a service differ from those that the migrations make. */
export interface ShapeCheck {
  found: Finding[]
  /** Whether rows can be read: nothing differs, or alone what does not run where they are read. */
  isReadable: boolean
}

/**
 * Compares the tables of a service with what the migrations make of them. The owner of a table can have it show other
 * rows than it has, and have code of his run where it is read. So this comes before its rows are read.
 */
export async function checkShape(sql: Sql, service: StoringService): Promise<ShapeCheck> {
  const known = knownShape(service)
  const parts = await readShape(sql, `roster_${service}`, knownTables(service))
  const there = new Map<string, Set<string>>()
  for (const { name, part } of parts) there.set(name, (there.get(name) ?? new Set()).add(part))
  const found: Finding[] = []
  let isReadable = true
  const say = (row: string, problem: string, part = '') => {
    if (row !== wholeSchema && !harmless.test(part)) isReadable = false
    found.push({ service, row, problem })
  }
  for (const [name, expected] of known) {
    const is = there.get(name)
    if (!is) {
      say(name, 'it is missing')
      continue
    }
    for (const part of expected)
      if (!is.has(part)) say(name, `it is not as the migrations make it: without ${part}`, part)
    for (const part of is) if (!expected.has(part)) say(name, `it is not as the migrations make it: with ${part}`, part)
  }
  return { found: found.slice(0, mostFindings), isReadable }
}

const mostFindings = 200
/** Parts of a table by which no reader sees anything else, and no code runs where it is read. */
const harmless = /^(index|right|referenced by|setting|sequence) /

/** The tables of a service, its functions that take rows, and `schema`. */
export function knownTables(service: StoringService): string[] {
  return [...knownShape(service).keys()]
}

/** A part as it stands in `shapes.txt`. */
export function partLine(service: StoringService, { name, part }: Part): string {
  return `${service} ${name} ${part}`
}
