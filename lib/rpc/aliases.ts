import { type DescField, type DescMessage, getOption, type Message } from '@bufbuild/protobuf'
import { isReflectMessage, reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { invalid, type Violation } from '../errors.ts'
import { registry } from '../registry.ts'

/**
 * Moves what a request has under another name of a field, as proto/ declares by `alias_of`, to that field, at any depth.
 * Returns what spells a path as the request did; undefined where it uses no such name. INVALID_ARGUMENT
 * REQUEST_MALFORMED names both fields where they differ.
 */
export function takeAliases(desc: DescMessage, message: Message): ((path: string) => string) | undefined {
  if (!holdsAliases(desc)) return undefined
  const taken: Taken[] = []
  take(reflect(desc, message), '', taken)
  const violations = taken.flatMap(({ alias, field, differ }): Violation[] => {
    const told = (path: string, other: string) => ({ field: path, description: `must be left out, or be as ${other}` })
    return differ ? [told(alias, field), told(field, alias)] : []
  })
  if (violations.length > 0) throw invalid(violations.slice(0, mostViolations), 'REQUEST_MALFORMED')
  return taken.length === 0 ? undefined : (path) => spell(path, taken)
}

/** The field that this one is another name of, as a path from their message. Undefined: it is no such name. */
export function aliasOf(field: DescField): DescField[] | undefined {
  const path = getOption(field, option) as string
  if (path === '') return undefined
  let within: DescMessage | undefined = field.parent
  return path.split('.').map((name) => {
    const found: DescField | undefined = within?.fields.find((each) => each.name === name)
    if (!found) throw new Error(`${field.parent.typeName}.${field.name} is another name of ${path}, which is no field`)
    within = found.message
    return found
  })
}

const option = registry.getExtension('roster.options.v1.alias_of')!

// As in other errors.
const mostViolations = 100

/** A name that a request used, and the field that it stands for, as paths in JSON spelling. */
interface Taken {
  alias: string
  field: string
  /** Both are there, with different values. */
  differ: boolean
}

function take(message: ReflectMessage, prefix: string, taken: Taken[]): void {
  for (const { alias, path } of aliasesIn(message.desc)) {
    if (!message.isSet(alias)) continue
    const value = message.get(alias)
    // First, because both may be members of one oneof.
    message.clear(alias)
    const place = descend(message, path)
    const field = path.at(-1)!
    const differ = place.isSet(field) && !isSame(place.get(field), value)
    place.set(field, value)
    taken.push({ alias: prefix + alias.jsonName, field: prefix + path.map((each) => each.jsonName).join('.'), differ })
  }
  for (const field of message.fields) {
    if (!field.message || !holdsAliases(field.message) || !message.isSet(field)) continue
    const path = prefix + field.jsonName
    if (field.fieldKind === 'message') take(message.get(field), `${path}.`, taken)
    else if (field.fieldKind === 'list')
      [...message.get(field)].forEach((item, at) => isReflectMessage(item) && take(item, `${path}[${at}].`, taken))
  }
}

function descend(message: ReflectMessage, path: DescField[]): ReflectMessage {
  let place = message
  for (const field of path.slice(0, -1)) {
    if (!place.isSet(field)) place.set(field, reflect(field.message!))
    place = place.get(field) as ReflectMessage
  }
  return place
}

// Texts, or lists of them.
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify([...(one as Iterable<string>)]) === JSON.stringify([...(other as Iterable<string>)])
}

function spell(path: string, taken: Taken[]): string {
  for (const { alias, field } of taken)
    if (path === field || path.startsWith(`${field}[`)) return alias + path.slice(field.length)
  return path
}

const known = new WeakMap<DescMessage, { alias: DescField; path: DescField[] }[]>()

function aliasesIn(desc: DescMessage) {
  let found = known.get(desc)
  if (!found) {
    found = desc.fields.flatMap((alias) => {
      const path = aliasOf(alias)
      return path ? [{ alias, path }] : []
    })
    known.set(desc, found)
  }
  return found
}

const holding = new WeakMap<DescMessage, boolean>()

/** Whether the message, or one within it, has other names of fields. */
function holdsAliases(desc: DescMessage): boolean {
  const holds = holding.get(desc)
  if (holds !== undefined) return holds
  const within = new Set<DescMessage>()
  const collect = (message: DescMessage) => {
    if (within.has(message)) return
    within.add(message)
    for (const field of message.fields) if (field.message) collect(field.message)
  }
  collect(desc)
  const found = [...within].some((message) => aliasesIn(message).length > 0)
  holding.set(desc, found)
  return found
}
