import { renameFields, type RosterError } from '#lib/errors'
import type { Entry, Plan } from './plan.ts'

/** The same error. Its violations name fields as the reference system does. */
export function nameFields(plan: Plan, error: RosterError): RosterError {
  return renameFields(error, (field) => foreignName(plan, field.split('.'))?.join('.') ?? field)
}

function foreignName(plan: Plan, own: string[]): string[] | undefined {
  for (const entry of plan.entries) {
    const name = nameIn(entry, own)
    if (name) return name
  }
  return undefined
}

function nameIn({ field, means, path, inner }: Entry, own: string[]): string[] | undefined {
  if (means !== 'field') return undefined
  if (path.length === 0) {
    const name = foreignName(inner!, own)
    return name && [field.jsonName, ...name]
  }
  const names = path.map(({ jsonName }) => jsonName)
  const shared = Math.min(names.length, own.length)
  if (names.slice(0, shared).some((name, at) => name !== own[at]!.replace(/\[\d+\]$/, ''))) return undefined
  if (own.length < names.length) return [field.jsonName]
  const index = /\[\d+\]$/.exec(own[names.length - 1]!)?.[0] ?? ''
  const rest = own.slice(names.length)
  return [field.jsonName + index, ...((inner && foreignName(inner, rest)) ?? rest)]
}
