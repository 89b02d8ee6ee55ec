import { create, type DescField, type Message } from '@bufbuild/protobuf'
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { invalid, type Violation } from '#lib/errors'
import { convert } from './convert.ts'
import { type Entry, findPath, type Plan } from './plan.ts'

/** A request in Roster's words. */
export interface Translated {
  request: ReflectMessage
  /** The organization that the request names as the acting one. */
  organization: { id: string; field: string } | undefined
  /** The page that a list is asked for. */
  page: { offset: number; limit: number }
}

/**
 * Translates a request. INVALID_ARGUMENT FIELD_UNSUPPORTED for fields that Roster has no equal for, and for two fields
 * that would be one in Roster.
 */
export function translateRequest(plan: Plan, foreign: Message): Translated {
  const request = reflect(plan.own, create(plan.own))
  const faults: Violation[] = []
  const work: Work = { faults, values: 0, organization: undefined, page: { offset: 0, limit: 0 } }
  const from = reflect(plan.foreign, foreign)
  fill(work, plan, from, request, '')
  for (const entry of plan.entries) setDefault(entry, from, request)
  const shown = faults.slice(0, mostFaults)
  if (shown.length > 0) throw invalid([...shown], 'FIELD_UNSUPPORTED')
  return { request, organization: work.organization, page: work.page }
}

const mostFaults = 100

interface Work extends Pick<Translated, 'organization' | 'page'> {
  faults: Violation[]
  /** The number of values that were set. */
  values: number
}

function fill(work: Work, plan: Plan, from: ReflectMessage, to: ReflectMessage, prefix: string): void {
  checkKnown(work, from, prefix)
  for (const entry of plan.entries) {
    const name = `${prefix}${entry.field.jsonName}`
    if (from.isSet(entry.field)) take(work, entry, from, to, name)
    else setEmpty(entry, from, to)
  }
}

function checkKnown(work: Work, { desc, message }: ReflectMessage, prefix: string): void {
  for (const { no } of message.$unknown ?? []) {
    const description = `Roster has no equal of field ${no} of ${desc.typeName}`
    work.faults.push({ field: `${prefix}${no}`, description })
  }
}

function take(work: Work, entry: Entry, from: ReflectMessage, to: ReflectMessage, name: string): void {
  const { field, means, path, inner } = entry
  if (means === 'refused') {
    work.faults.push({ field: name, description: 'Roster has no equal of this yet' })
    return
  }
  if (means === 'nothing' || means === 'total') return checkValue(work, field, from, name)
  if (means === 'organization') work.organization = { id: from.get(field) as string, field: name }
  else if (means === 'offset' || means === 'limit') work.page[means] = Number(from.get(field))
  else if (path.length > 0) set(work, entry, from, to, name)
  else if (field.fieldKind !== 'list') fill(work, inner!, from.get(field) as ReflectMessage, to, `${name}.`)
  else {
    let index = 0
    for (const item of from.get(field)) takeFilter(work, inner!, item as ReflectMessage, to, `${name}[${index++}]`)
  }
}

// An empty value is no filter in Roster, and finds everything.
function takeFilter(work: Work, plan: Plan, from: ReflectMessage, to: ReflectMessage, name: string): void {
  const [values, faults] = [work.values, work.faults.length]
  fill(work, plan, from, to, `${name}.`)
  if (work.values === values && work.faults.length === faults)
    work.faults.push({ field: name, description: 'Roster has no equal of a filter by nothing' })
}

// Only the declared values have no effect.
function checkValue(work: Work, field: DescField, from: ReflectMessage, name: string): void {
  if (!field.enum) return
  const values = field.fieldKind === 'list' ? [...(from.get(field) as Iterable<unknown>)] : [from.get(field)]
  for (const value of values as number[])
    if (!field.enum.value[value])
      work.faults.push({ field: name, description: `Roster has no equal of the value ${value}` })
}

function set(work: Work, { field, path, inner, equal }: Entry, from: ReflectMessage, to: ReflectMessage, name: string) {
  const place = descend(to, path)
  const target = path.at(-1)!
  if (place.isSet(target) || (target.oneof && place.oneofCase(target.oneof))) {
    work.faults.push({
      field: name,
      description: 'Roster takes this only once, and not beside a field that excludes it',
    })
    return
  }
  work.values++
  const translate = (value: unknown, at: string) => {
    if (!inner) {
      if (field.message) checkKnown(work, value as ReflectMessage, `${at}.`)
      return convert(field, target, value, equal.opposite)
    }
    const made = reflect(inner.own)
    fill(work, inner, value as ReflectMessage, made, `${at}.`)
    return made
  }
  const also = equal.sets && findPath(to.desc, equal.sets)
  if (also) descend(to, also).set(also.at(-1)!, true)
  if (field.fieldKind !== 'list') return place.set(target, translate(from.get(field), name))
  const list = place.get(target as DescField & { fieldKind: 'list' })
  let index = 0
  for (const item of from.get(field)) list.add(translate(item, `${name}[${index++}]`))
}

// A field that is empty and has no presence.
function setEmpty({ field, means, path, equal }: Entry, from: ReflectMessage, to: ReflectMessage): void {
  if (means !== 'field' || (field.oneof && !field.proto.proto3Optional)) return
  const target = path.at(-1)
  if (target && (equal.replaces || equal.opposite))
    descend(to, path).set(target, convert(field, target, from.get(field), equal.opposite))
}

function setDefault({ field, path, equal: { defaultFrom } }: Entry, from: ReflectMessage, to: ReflectMessage): void {
  const source = defaultFrom === '' || from.isSet(field) ? undefined : findPath(to.desc, defaultFrom)
  if (source) descend(to, path).set(path.at(-1)!, descend(to, source).get(source.at(-1)!))
}

function descend(message: ReflectMessage, path: DescField[]): ReflectMessage {
  let place = message
  for (const field of path.slice(0, -1)) {
    if (!place.isSet(field)) place.set(field, reflect(field.message!))
    place = place.get(field) as ReflectMessage
  }
  return place
}
