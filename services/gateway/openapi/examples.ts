import { exampleBodies } from './example-bodies.ts'
import { exampleValues } from './example-values.ts'
import type { Schema } from './schemas.ts'

/**
 * A body for readers that fits its schema: the one of example-bodies.ts, or what it must have and what has an example in
 * proto/, with values that are sensible for the names of the fields.
 */
export function exampleOf(operationId: string, schema: Schema, components: Record<string, Schema>): unknown {
  // Two providers have two names.
  const [, provider] = /^Add(?:Organization)?(\w+)IDP$/.exec(operationId) ?? []
  if (provider !== undefined) return { ...(valueOf(schema, '') as object), name: `Example, by ${provider}` }
  return exampleBodies[operationId] ?? valueOf(schema, '')

  function valueOf(part: Schema, name: string): unknown {
    const {
      type,
      properties = {},
      required = [],
      items,
      examples,
      enum: values,
      minimum,
      description,
      ...rest
    } = known(part)
    if (values) return values.find((value) => !value.endsWith('_UNSPECIFIED'))
    if (examples) return examples[0]
    // A field and a message may have one name.
    const isOwn = type !== 'object' && !(items && known(items).enum)
    if (isOwn && name in exampleValues) return exampleValues[name]
    if (type === 'array') return [valueOf(items!, name)]
    const chosen = [...(description ?? '').matchAll(/Exactly one of `(\w+)`/g)].map(([, name]) => name)
    if (type === 'object')
      return Object.fromEntries(
        Object.entries(properties)
          .filter(([key, each]) => required.includes(key) || chosen.includes(key) || hasExample(each))
          .map(([key, each]) => [key, valueOf(each, key)]),
      )
    if (type === 'boolean') return true
    return type === 'string' ? textOf(name, rest) : (minimum ?? 1)
  }

  function hasExample(part: Schema): boolean {
    const { examples, items, enum: values } = known(part)
    return (examples !== undefined && !values) || (items !== undefined && hasExample(items))
  }

  function known(part: Schema): Known {
    const reference = part['$ref'] as string | undefined
    return reference ? components[reference.slice(reference.lastIndexOf('/') + 1)]! : part
  }
}

interface Known {
  type?: string
  description?: string
  format?: string
  pattern?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  examples?: unknown[]
  enum?: string[]
  minimum?: number
}

function textOf(name: string, { format, pattern }: Known): string {
  if (format === 'date-time') return '2030-01-01T00:00:00Z'
  if (format === 'uri') return 'https://example.com'
  const words = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return pattern === undefined || new RegExp(pattern, 'u').test(words) ? words : '1'
}
