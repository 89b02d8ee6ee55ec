import { create, type DescEnum, type DescField, type DescMessage, type DescOneof, ScalarType } from '@bufbuild/protobuf'
import { aliasOf } from '#lib/rpc/aliases'
import type { Method } from '#lib/rpc/methods'
import { validate } from '#lib/rpc/validate'
import { commentOf, jsonCommentOf } from './comments.ts'
import { exampleValues } from './example-values.ts'
import { constraintsOf, isRequired } from './rules.ts'
import { wellKnown } from './well-known.ts'
import { isSpread } from '../protocols/oauth/write.ts'

export type Schema = Record<string, unknown>

/**
 * How a message is written. The rules of its fields hold for a `request`. `oauth` is a form or an answer of OAuth 2.0,
 * with the names of the proto.
 */
export type Form = 'request' | 'answer' | 'oauth'

export interface Schemas {
  /** A reference to the schema of a message; of a body, where some fields are elsewhere in the HTTP request. */
  refer(message: DescMessage, form: Form, elsewhere?: readonly DescField[]): Schema
  field(field: DescField, form: Form): Schema
  /** The schemas of everything that was referred to so far, by their keys. */
  components(): Record<string, Schema>
}

/** Collects JSON Schemas of messages and enums, as canonical JSON writes them. `methods` are all that it is used for. */
export function createSchemas(methods: readonly Method[]): Schemas {
  const components = new Map<string, Schema>()
  const origins = new Map<string, string>()
  const keyOf = createKeys(methods)

  function refer(message: DescMessage, form: Form, elsewhere: readonly DescField[] = []): Schema {
    const { typeName } = message
    const known = wellKnown.get(typeName)
    if (known) return { ...known }
    if (typeName.startsWith('google.protobuf.'))
      throw new Error(`well-known.ts does not say how JSON spells ${typeName}`)
    return component(
      keyOf(message, form, elsewhere),
      [typeName, form, ...elsewhere.map(({ name }) => name)].join(),
      () => object(message, form, elsewhere),
    )
  }

  // Generators name a class after the key, so it is short. Its origin tells two messages of one name apart.
  function component(key: string, origin: string, make: () => Schema): Schema {
    if ((origins.get(key) ?? origin) !== origin) throw new Error(`${key} names two schemas`)
    if (!origins.has(key)) {
      // Known before it is made: a message may hold itself.
      origins.set(key, origin)
      components.set(key, make())
    }
    return { $ref: `${root}${key}` }
  }

  function object(message: DescMessage, form: Form, elsewhere: readonly DescField[]): Schema {
    const fields = message.fields.filter(
      (each) => !isElsewhere(each, elsewhere) && !(form === 'oauth' && isSpread(each)),
    )
    const properties = Object.fromEntries(fields.map((each) => [nameOf(each, form), field(each, form)]))
    const needed = form === 'answer' ? [] : neededOf(message, form, elsewhere)
    const pairs = form === 'request' ? fields.flatMap((alias) => pairOf(alias, needed)) : []
    const required = needed.filter((name) => !pairs.some(({ names }) => names.includes(name)))
    const choices = message.oneofs.filter((oneof) => !oneof.fields.some((each) => elsewhere.includes(each)))
    const text = [
      textOf(message, form),
      ...choices.map((oneof) => choiceOf(oneof, form)),
      ...pairs.map(({ text }) => text),
    ]
      .filter(Boolean)
      .join(' ')
    return {
      type: 'object',
      ...describe(text),
      ...(fields.length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      ...(form === 'request' && { additionalProperties: false }),
    }
  }

  function field(desc: DescField, form: Form): Schema {
    const { schema, text } = form === 'answer' ? { schema: {}, text: [] } : constraintsOf(desc)
    const comment = [textOf(desc, form), ...text, desc.oneof && choiceOf(desc.oneof, form)].filter(Boolean).join(' ')
    return {
      ...merge(form === 'request' ? shape(desc, form) : withExample(desc, shape(desc, form)), schema),
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
    const notes = desc.values.flatMap((value) => {
      const text = jsonCommentOf(value)
      return text === undefined ? [] : [`- \`${value.name}\`: ${text.replaceAll('\n', ' ')}`]
    })
    const description = [jsonCommentOf(desc), notes.join('\n')].filter(Boolean).join('\n\n')
    return component(shortNameOf(desc), desc.typeName, () => ({
      type: 'string',
      ...describe(description),
      enum: desc.values.map(({ name }) => name),
      ...(desc.values.length > 1 && {
        examples: [desc.values[desc.values[0]!.name.endsWith('_UNSPECIFIED') ? 1 : 0]!.name],
      }),
    }))
  }

  return {
    refer,
    field,
    components: () => Object.fromEntries([...components].toSorted(([left], [right]) => (left < right ? -1 : 1))),
  }
}

const root = '#/components/schemas/'

/** Names the schema of a message in each form. A message that is written in two forms has two schemas. */
function createKeys(methods: readonly Method[]) {
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
  return (message: DescMessage, form: Form, elsewhere: readonly DescField[]): string => {
    // Generators in Go make more of a name: oapi-codegen a type SetEmailResponse, openapi-generator a function NewUser.
    const name = shortNameOf(message)
      .replace(/Response$/, 'Answer')
      .replace(/^New(.+)/, '$1ToAdd')
    if (elsewhere.length > 0) return `${name.replace(/Request$/, '')}Body`
    const isOnly = (forms.get(message.typeName)?.size ?? 1) === 1
    return isOnly || form === 'answer' ? name : `${name}Input`
  }
}

/** `roster.users.v1.Outer.Inner` as `OuterInner`. */
function shortNameOf({ typeName, file }: DescMessage | DescEnum): string {
  return typeName.slice(file.proto.package.length + 1).replaceAll('.', '')
}

/** The name of a field in the JSON of a form. */
export function nameOf({ name, jsonName }: Pick<DescField, 'name' | 'jsonName'>, form: Form): string {
  return form === 'oauth' ? name : jsonName
}

// What readers of an answer see. The examples of requests are whole bodies: examples.ts.
function withExample(desc: DescField, shape: Schema): Schema {
  const { parent, jsonName, name } = desc
  const isList = desc.fieldKind === 'list' && desc.listKind === 'scalar'
  const value = exampleValues[`${parent.name}.${jsonName}`] ?? exampleValues[jsonName] ?? exampleValues[name]
  const fits = (isList || desc.fieldKind === 'scalar') && isList === Array.isArray(value)
  return value !== undefined && fits ? { ...shape, examples: [value] } : shape
}

function textOf(desc: DescMessage | DescField, form: Form): string | undefined {
  const path = desc.kind === 'field' && aliasOf(desc)
  if (path) return `${form === 'answer' ? 'The same as' : 'In place of'} \`${spell(path)}\`.`
  return form === 'oauth' ? commentOf(desc) : jsonCommentOf(desc)
}

const spell = (path: DescField[]) => path.map(({ jsonName }) => jsonName).join('.')

/** Whether the field, or the one that it is another name of, is elsewhere in the HTTP request. */
export function isElsewhere(field: DescField, elsewhere: readonly DescField[]): boolean {
  return elsewhere.includes(field) || elsewhere.includes(aliasOf(field)?.[0] ?? field)
}

/** Another name of a field beside it is a choice as in a oneof. Members of one say so already. */
function pairOf(alias: DescField, needed: string[]): { names: string[]; text: string }[] {
  const path = aliasOf(alias)
  if (!path || alias.oneof) return []
  const { jsonName } = path[0]!
  const [count, must] = needed.includes(jsonName) ? ['Exactly', 'must'] : ['At most', 'may']
  const text = `${count} one of \`${alias.jsonName}\` and \`${jsonName}\` ${must} be given.`
  return [{ names: [alias.jsonName, jsonName], text }]
}

function describe(description: string | undefined): Schema {
  return description ? { description } : {}
}

/** The names of the fields that a message must have, because it breaks a rule without them. */
export function neededOf(message: DescMessage, form: Form, elsewhere: readonly DescField[]): string[] {
  const broken = new Set(validate(message, create(message)).map((violation) => violation.field))
  return message.fields
    .filter((field) => broken.has(field.jsonName) && !elsewhere.includes(field))
    .map((field) => nameOf(field, form))
}

/**
 * What members of a oneof may be there. A `oneOf` beside properties would say it to validators, but generators of
 * clients take its alternatives for all that there is. The text stands at the message and at each member, because
 * generators leave out the text of a member that is a message.
 */
function choiceOf(oneof: DescOneof, form: Form): string | undefined {
  if (oneof.fields.length === 1) return undefined
  const names = oneof.fields.map((member) => `\`${nameOf(member, form)}\``)
  const all = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  if (form === 'answer') return `At most one of ${all} is there.`
  return isRequired(oneof) ? `Exactly one of ${all} must be given.` : `At most one of ${all} may be given.`
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
      return { type: 'string', pattern: '^-?[0-9]{1,19}$' }
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: 'string', pattern: '^[0-9]{1,20}$' }
  }
}
