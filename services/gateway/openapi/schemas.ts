import { create, type DescEnum, type DescField, type DescMessage, type DescOneof, ScalarType } from '@bufbuild/protobuf'
import type { Method } from '#lib/rpc/methods'
import { validate } from '#lib/rpc/validate'
import { commentOf, jsonCommentOf } from './comments.ts'
import { constraintsOf, isRequired } from './rules.ts'
import { wellKnown } from './well-known.ts'

export type Schema = Record<string, unknown>

/**
 * How a message is written. The rules of its fields hold for a `request`. `oauth` is a form or an answer of OAuth 2.0,
 * with the names of the proto.
 */
export type Form = 'request' | 'answer' | 'oauth'

export interface Schemas {
  /** A reference to the schema of a message. */
  refer(message: DescMessage, form: Form): Schema
  /** The schema of a message itself, without some fields. */
  inline(message: DescMessage, form: Form, without: readonly DescField[]): Schema
  field(field: DescField, form: Form): Schema
  /** The schemas of everything that was referred to so far, by their keys. */
  components(): Record<string, Schema>
}

/** Collects JSON Schemas of messages and enums, as canonical JSON writes them. `methods` are all that it is used for. */
export function createSchemas(methods: readonly Method[]): Schemas {
  const components = new Map<string, Schema>()
  const keyOf = createKeys(methods)

  function refer(message: DescMessage, form: Form): Schema {
    const { typeName, name } = message
    const known = wellKnown.get(typeName)
    if (known) return { ...known }
    if (typeName.startsWith('google.protobuf.')) throw new Error(`nobody has told how JSON spells ${typeName}`)
    const key = keyOf(message, form)
    if (!components.has(key)) {
      const schema = { title: name }
      // Known before it is made: a message may hold itself.
      components.set(key, schema)
      Object.assign(schema, inline(message, form, []))
    }
    return { $ref: `${root}${key}` }
  }

  function inline(message: DescMessage, form: Form, without: readonly DescField[]): Schema {
    const fields = message.fields.filter((candidate) => !without.includes(candidate))
    const properties = Object.fromEntries(fields.map((each) => [nameOf(each, form), field(each, form)]))
    const required = form === 'answer' ? [] : neededOf(message, fields, form)
    return {
      type: 'object',
      ...describe(textOf(message, form)),
      ...(fields.length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      ...choices(message, without, form),
      ...(form === 'request' && { additionalProperties: false }),
    }
  }

  function field(desc: DescField, form: Form): Schema {
    const { schema, text } = form === 'answer' ? { schema: {}, text: [] } : constraintsOf(desc)
    const comment = [textOf(desc, form), ...text].filter(Boolean).join(' ')
    return {
      ...merge(shape(desc, form), schema),
      ...describe(comment),
      ...(desc.deprecated && { deprecated: true }),
    }
  }

  function shape(desc: DescField, form: Form): Schema {
    if (desc.fieldKind === 'list') return { type: 'array', items: single(desc, form) }
    if (desc.fieldKind === 'map') return { type: 'object', additionalProperties: single(desc, form) }
    return single(desc, form)
  }

  function single({ message, enum: values, scalar }: DescField, form: Form): Schema {
    if (message) return refer(message, form)
    return values ? referEnum(values) : scalarSchema(scalar)
  }

  function referEnum(desc: DescEnum): Schema {
    const { typeName, name, values } = desc
    const notes = values.flatMap((value) => {
      const text = jsonCommentOf(value)
      return text === undefined ? [] : [`- \`${value.name}\`: ${text.replaceAll('\n', ' ')}`]
    })
    const description = [jsonCommentOf(desc), notes.join('\n')].filter(Boolean).join('\n\n')
    components.set(typeName, {
      title: name,
      type: 'string',
      ...describe(description),
      enum: values.map((value) => value.name),
    })
    return { $ref: `${root}${typeName}` }
  }

  return {
    refer,
    inline,
    field,
    components: () => Object.fromEntries([...components].toSorted(([left], [right]) => (left < right ? -1 : 1))),
  }
}

const root = '#/components/schemas/'

/** Names the schema of a message in each form. A message that is written in two forms has two schemas. */
function createKeys(methods: readonly Method[]): (message: DescMessage, form: Form) => string {
  const forms = new Map<string, Set<Form>>()
  const walk = (message: DescMessage, form: Form) => {
    const known = forms.get(message.typeName) ?? forms.set(message.typeName, new Set()).get(message.typeName)!
    if (known.has(form)) return
    known.add(form)
    for (const field of message.fields) if (field.message) walk(field.message, form)
  }
  for (const { desc, oauth } of methods) {
    walk(desc.input, oauth ? 'oauth' : 'request')
    walk(desc.output, oauth ? 'oauth' : 'answer')
  }
  return ({ typeName }, form) => {
    const isOnly = (forms.get(typeName)?.size ?? 1) === 1
    return isOnly || form === 'answer' ? typeName : `${typeName}.${form}`
  }
}

/** The name of a field in the JSON of a form. */
export function nameOf({ name, jsonName }: Pick<DescField, 'name' | 'jsonName'>, form: Form): string {
  return form === 'oauth' ? name : jsonName
}

function textOf(desc: DescMessage | DescField, form: Form): string | undefined {
  return form === 'oauth' ? commentOf(desc) : jsonCommentOf(desc)
}

function describe(description: string | undefined): Schema {
  return description ? { description } : {}
}

/** The fields that a message must have, because it breaks a rule without them. */
function neededOf(message: DescMessage, fields: readonly DescField[], form: Form): string[] {
  const broken = new Set(validate(message, create(message)).map((violation) => violation.field))
  return fields.filter(({ jsonName }) => broken.has(jsonName)).map((each) => nameOf(each, form))
}

/** Of the members of a oneof, JSON has one at most. */
function choices(message: DescMessage, without: readonly DescField[], form: Form): Schema {
  const all = message.oneofs
    .filter(({ fields }) => fields.length > 1 && !fields.some((each) => without.includes(each)))
    .map((oneof) => ({ oneOf: alternatives(oneof, form) }))
  return all.length > 1 ? { allOf: all } : (all[0] ?? {})
}

function alternatives(oneof: DescOneof, form: Form): Schema[] {
  const each = oneof.fields.map((member) => ({ title: nameOf(member, form), required: [nameOf(member, form)] }))
  if (isRequired(oneof) && form !== 'answer') return each
  const none = { title: 'none of them', properties: Object.fromEntries(each.map(({ title }) => [title, false])) }
  return [...each, none]
}

/** Both schemas in one. A rule of items goes to the items. */
function merge(shape: Schema, rules: Schema): Schema {
  const merged = { ...shape, ...rules }
  for (const inner of ['items', 'additionalProperties'])
    if (shape[inner] && rules[inner]) merged[inner] = { ...shape[inner], ...rules[inner] }
  return merged
}

function scalarSchema(scalar: ScalarType): Schema {
  switch (scalar) {
    case ScalarType.STRING:
      return { type: 'string' }
    case ScalarType.BYTES:
      return { type: 'string', contentEncoding: 'base64' }
    case ScalarType.BOOL:
      return { type: 'boolean' }
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: 'number' }
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return { type: 'integer', format: 'int32' }
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: 'integer', minimum: 0, maximum: 2 ** 32 - 1 }
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return { type: 'string', pattern: String.raw`^-?\d{1,19}$` }
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: 'string', pattern: String.raw`^\d{1,20}$` }
  }
}
