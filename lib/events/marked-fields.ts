import { getOption } from '@bufbuild/protobuf'
import { registry } from '../registry.ts'
import { namesOf } from './messages.ts'

/** The fields of an event's payload that proto/ marks as personal, as JSON names them. An unknown event has none. */
export const personalFields = markedFields('personal')

/** The fields that are stored and never published. */
export const unpublishedFields = markedFields('unpublished')

function markedFields(mark: 'personal' | 'unpublished'): (aggregateType: string, type: string) => readonly string[] {
  const option = registry.getExtension(`roster.options.v1.${mark}`)!
  const known = new Map<string, string[]>()
  return (aggregateType, type) => {
    const { name } = namesOf(aggregateType, type)
    let fields = known.get(name)
    if (!fields) {
      const marked = registry.getMessage(name)?.fields.filter((field) => getOption(field, option) === true) ?? []
      fields = marked.map(({ jsonName }) => jsonName)
      if (known.size === 1000) known.clear()
      known.set(name, fields)
    }
    return fields
  }
}
