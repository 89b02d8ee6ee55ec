import { type DescField, type DescOneof, getOption, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf'
import type { NameKind } from '#lib/names/name-faults'
import { aliasOf } from '#lib/rpc/aliases'
import { nameKindOf } from '#lib/rpc/name-kind'
import { registry } from '#lib/registry'

/** The rules of a field as JSON Schema. The text has the rules that it cannot express. */
export interface Constraints {
  schema: Record<string, unknown>
  text: string[]
}

/** What `buf.validate` says of a field, or of the one that it is another name of. Throws for a rule that has no meaning here. */
export function constraintsOf(desc: DescField): Constraints {
  const field = aliasOf(desc)?.at(-1) ?? desc
  const { schema, text } = translate(rulesOf(field), field.name)
  const kind = nameKindOf(field)
  return { schema, text: kind ? [...text, nameTexts[kind]] : text }
}

// Not every regular expression knows the properties of Unicode that the rule needs.
const nameTexts: Record<NameKind, string> = {
  identifier: 'It has no character that cannot be seen, and no blank at an end.',
  thing: 'It has no character that cannot be seen, beside those of emoji and of scripts that need them.',
  person: 'It has no character that cannot be seen, beside U+200C, U+200D and those of emoji.',
}

/** Whether `buf.validate` says that a member of the oneof must be set. */
export function isRequired(oneof: DescOneof): boolean {
  return (readRules(oneof, 'buf.validate.oneof') as { required?: boolean }).required === true
}

interface Rules {
  required?: boolean
  cel?: { message: string; expression: string }[]
}

function rulesOf(field: DescField): Rules {
  return readRules(field, 'buf.validate.field')
}

function readRules(desc: DescField | DescOneof, name: string): object {
  const extension = registry.getExtension(name)!
  const value = getOption(desc, extension)
  return toJson(extension.message!, value as never, { registry }) as JsonObject
}

function translate(rules: Rules, field: string): Constraints {
  const found: Constraints = { schema: {}, text: [] }
  for (const { message, expression } of rules.cel ?? []) {
    const pattern = /^this\.matches\('([^'\\]+)'\)$/.exec(expression)?.[1]
    if (pattern === undefined) found.text.push(`It ${message}.`)
    else Object.assign(found.schema, { pattern })
  }
  for (const [type, typed] of Object.entries(rules).filter(([name]) => name !== 'required' && name !== 'cel'))
    for (const [rule, value] of Object.entries(typed as JsonObject)) {
      const keyword = keywords[`${type}.${rule}`] ?? keywords[`*.${rule}`]
      if (!keyword) throw new Error(`${field}: rules.ts does not say how OpenAPI spells the rule ${type}.${rule}`)
      const { text, ...schema } = keyword(value, field)
      Object.assign(found.schema, schema)
      if (text) found.text.push(text)
    }
  return found
}

const keywords: Record<string, (value: JsonValue, field: string) => Record<string, unknown> & { text?: string }> = {
  'string.minLen': (value) => ({ minLength: Number(value) }),
  'string.maxLen': (value) => ({ maxLength: Number(value) }),
  'string.len': (value) => ({ minLength: Number(value), maxLength: Number(value) }),
  'string.pattern': (pattern) => ({ pattern }),
  'string.uri': () => ({ format: 'uri' }),
  'string.example': (examples) => ({ examples }),
  'repeated.minItems': (value) => ({ minItems: Number(value) }),
  'repeated.maxItems': (value) => ({ maxItems: Number(value) }),
  // `uniqueItems` makes openapi-generator write Java with a set of enums, which does not compile.
  'repeated.unique': () => ({ text: 'Each only once.' }),
  'repeated.items': (rules, field) => ({ items: translate(rules as Rules, field).schema }),
  'map.minPairs': (value) => ({ minProperties: Number(value) }),
  'map.maxPairs': (value) => ({ maxProperties: Number(value) }),
  'map.keys': (rules, field) => ({ propertyNames: translate(rules as Rules, field).schema }),
  'map.values': (rules, field) => ({ additionalProperties: translate(rules as Rules, field).schema }),
  // The names of its values say so already.
  'enum.definedOnly': () => ({}),
  '*.in': (values) => ({ enum: values }),
  // Generators refuse `not`.
  '*.notIn': (values) => ({ text: `Not ${(values as string[]).map((value) => `\`${value}\``).join(' or ')}.` }),
  // A text in JSON.
  'uint64.lte': (most) => ({ text: `At most ${most as string}.` }),
  '*.gte': (minimum) => ({ minimum }),
  '*.gt': (exclusiveMinimum) => ({ exclusiveMinimum }),
  '*.lte': (maximum) => ({ maximum }),
  '*.lt': (exclusiveMaximum) => ({ exclusiveMaximum }),
}
