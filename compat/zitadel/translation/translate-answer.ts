import type { DescField, Message } from '@bufbuild/protobuf'
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { convert } from './convert.ts'
import type { Entry, Plan } from './plan.ts'

/**
 * Translates an answer of Roster. A value without a field on the other side is left out. `total` is the number of all
 * objects of a list.
 */
export function translateAnswer(plan: Plan, own: Message, total: number): Message {
  const to = reflect(plan.foreign)
  fill(plan, reflect(plan.own, own), to, total)
  return to.message
}

function fill(plan: Plan, from: ReflectMessage, to: ReflectMessage, total: number): void {
  for (const entry of plan.entries) put(entry, from, to, total)
}

function put({ field, means, path, inner, equal }: Entry, from: ReflectMessage, to: ReflectMessage, total: number) {
  if (means === 'total') to.set(field, convert(field, field, BigInt(total), false))
  if (means !== 'field') return
  const translate = (value: unknown) => {
    if (!inner) return convert(path.at(-1)!, field, value, equal.opposite)
    const made = reflect(inner.foreign)
    fill(inner, value as ReflectMessage, made, total)
    return made
  }
  const source = path.at(-1)
  if (!source) return to.set(field, translate(from))
  const place = descend(from, path)
  if (!place?.isSet(source)) return
  if (field.fieldKind !== 'list') return to.set(field, translate(place.get(source)))
  const list = to.get(field)
  for (const item of place.get(source as DescField & { fieldKind: 'list' })) list.add(translate(item))
}

function descend(message: ReflectMessage, path: DescField[]): ReflectMessage | undefined {
  let place: ReflectMessage | undefined = message
  for (const field of path.slice(0, -1)) place = place?.isSet(field) ? (place.get(field) as ReflectMessage) : undefined
  return place
}
