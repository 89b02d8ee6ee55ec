import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf'
import { registry } from '#lib/registry'
import { checkEnums, type Way } from './check-enums.ts'

/** How a message of the reference system and one of Roster stand for each other. */
export interface Plan {
  foreign: DescMessage
  own: DescMessage
  entries: Entry[]
}

/** A field of the reference system and its equal in Roster. */
export interface Entry {
  field: DescField
  means: 'field' | 'nothing' | 'refused' | 'organization' | 'offset' | 'limit' | 'total'
  /** The fields of Roster that lead to it. Empty: the surrounding message has the inner fields. */
  path: DescField[]
  /** Of messages that are not the same on both sides. */
  inner: Plan | undefined
  equal: Equal
}

/** The option `roster.options.v1.equal`. */
export interface Equal {
  as: string
  replaces: boolean
  opposite: boolean
  whereThere: boolean
  withoutEffect: boolean
  refused: boolean
  actingOrganization: boolean
  paging: number
  means: string
  defaultFrom: string
  sets: string
  orAs: string
}

/**
 * Compares both messages and gives the plan. Throws where they do not fit. `skip` names the fields that another plan has.
 */
export function plan(
  way: Way,
  foreign: DescMessage,
  own: DescMessage,
  skip: (field: DescField) => boolean = () => false,
): Plan {
  return planMessage({ way, skip, known: new Map() }, foreign, own)
}

/** The option of a field. */
export function equalOf(field: DescField): Equal {
  return getOption(field, equalOption) as Equal
}

const equalOption = registry.getExtension('roster.options.v1.equal')!

interface Making {
  way: Way
  skip: (field: DescField) => boolean
  /** A message may hold others of its type. */
  known: Map<string, Plan>
}

function planMessage(making: Making, foreign: DescMessage, own: DescMessage): Plan {
  const key = `${foreign.typeName} ${own.typeName}`
  const known = making.known.get(key)
  if (known) return known
  const made: Plan = { foreign, own, entries: [] }
  making.known.set(key, made)
  made.entries.push(...foreign.fields.flatMap((field) => (making.skip(field) ? [] : planField(making, field, own))))
  return made
}

function planField(making: Making, field: DescField, own: DescMessage): Entry[] {
  const equal = equalOf(field)
  const entry: Entry = { field, means: meaningOf(equal), path: [], inner: undefined, equal }
  if (entry.means !== 'field') return [entry]
  const path = equal.as === '.' ? [] : (findPath(own, equal.as || field.name) ?? findOther(own, equal))
  if (!path && equal.whereThere) return making.way === 'request' ? [{ ...entry, means: 'nothing' }] : []
  if (!path) throw new Error(`${nameOf(field)} has no equal in ${own.typeName}`)
  const target = path.at(-1)
  const unlike = () => new Error(`${nameOf(field)} does not fit ${target ? nameOf(target) : own.typeName}`)
  if (!target) {
    if (!field.message || (field.fieldKind === 'list' && making.way === 'answer')) throw unlike()
    return [{ ...entry, inner: planMessage(making, field.message, own) }]
  }
  if (equal.sets && !findPath(own, equal.sets))
    throw new Error(`${nameOf(field)} sets what ${own.typeName} does not have`)
  if ((field.fieldKind === 'list') !== (target.fieldKind === 'list') || kindOf(field) !== kindOf(target)) throw unlike()
  if (field.enum) checkEnums(making.way, field.enum, target.enum!)
  const isSame = field.message?.typeName === target.message?.typeName
  const inner = field.message && !isSame ? planMessage(making, field.message, target.message!) : undefined
  return [{ ...entry, path, inner }]
}

function meaningOf({ withoutEffect, refused, actingOrganization, paging }: Equal): Entry['means'] {
  if (refused) return 'refused'
  if (withoutEffect) return 'nothing'
  if (actingOrganization) return 'organization'
  return (['field', 'offset', 'limit', 'total'] as const)[paging]!
}

function findOther(own: DescMessage, { orAs }: Equal): DescField[] | undefined {
  return orAs === '' ? undefined : findPath(own, orAs)
}

/** The fields of a path such as `name.text`; undefined where the message has no such path. */
export function findPath(own: DescMessage, path: string): DescField[] | undefined {
  const fields: DescField[] = []
  let message: DescMessage | undefined = own
  for (const name of path.split('.')) {
    const field: DescField | undefined = message?.fields.find((candidate) => candidate.name === name)
    if (!field || fields.at(-1)?.fieldKind === 'list') return undefined
    fields.push(field)
    message = field.message
  }
  return fields
}

function kindOf(field: DescField): string {
  if (field.message) return 'message'
  if (field.enum) return 'enum'
  return scalarKinds.get(field.scalar) ?? 'number'
}

const scalarKinds = new Map([
  [ScalarType.STRING, 'text'],
  [ScalarType.BYTES, 'bytes'],
  [ScalarType.BOOL, 'bool'],
  [ScalarType.DOUBLE, 'fraction'],
  [ScalarType.FLOAT, 'fraction'],
])

function nameOf(field: DescField): string {
  return `${field.parent.typeName}.${field.name}`
}
