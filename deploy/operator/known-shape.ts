import { readFileSync } from 'node:fs'
import type { StoringService } from '../provision.ts'

let lines: string[] | undefined

/** What the migrations make of each table of a service: its parts as they stand in `shapes.txt`. */
export function knownShape(service: StoringService): Map<string, Set<string>> {
  lines ??= readFileSync(new URL('./verify/shape/shapes.txt', import.meta.url), 'utf8').split('\n')
  const known = new Map<string, Set<string>>()
  for (const line of lines) {
    const [of, name = '', ...rest] = line.split(' ')
    if (of === service) known.set(name, (known.get(name) ?? new Set()).add(rest.join(' ')))
  }
  return known
}

/** The columns that the migrations make, with their types. Names are as SQL writes them. */
export function knownColumns(service: StoringService): { table: string; name: string; type: string }[] {
  return [...knownShape(service)].flatMap(([table, parts]) =>
    [...parts].flatMap((part) => {
      const [, name, type] = column.exec(part) ?? []
      return name !== undefined && type !== undefined ? [{ table, name, type }] : []
    }),
  )
}

const column = /^column (\S+) (.+?)(?: not null| identity=| generated=| collate | default |$)/
