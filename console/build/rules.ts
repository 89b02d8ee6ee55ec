import { type DescField, type DescMessage, getOption, type JsonObject, toJson } from '@bufbuild/protobuf'
import { registry } from '#lib/registry'
import { nameKindOf } from '#lib/rpc/name-kind'
import type { Rule, Rules } from '../form/rules.ts'

/** The rules of a request's fields, by their path in JSON: those that a browser can check before it asks. */
export function rulesOf(message: DescMessage, prefix = '', above: DescMessage[] = []): Rules {
  // A message may hold itself, as a condition of a search does.
  if (above.includes(message) || !message.typeName.startsWith('roster.')) return {}
  const found: Rules = {}
  for (const field of message.fields) {
    const path = prefix + field.jsonName
    const own = fieldRules(field)
    if (own.length > 0) found[path] = own
    if (field.fieldKind === 'message') Object.assign(found, rulesOf(field.message, `${path}.`, [...above, message]))
  }
  return found
}

function fieldRules(field: DescField): Rule[] {
  const extension = registry.getExtension('buf.validate.field')!
  const declared = toJson(extension.message!, getOption(field, extension) as never, { registry }) as Declared
  const texts = field.fieldKind === 'list' ? declared.repeated?.items?.string : declared.string
  const kind = nameKindOf(field)
  return [
    ...lengths(texts),
    ...numbers(declared.int32 ?? declared.uint32),
    ...(declared.cel ?? []).flatMap(({ message, expression }) => celRule(message, expression)),
    ...(kind ? [{ rule: 'name' as const, value: kind }] : []),
  ]
}

interface Declared {
  cel?: { message: string; expression: string }[]
  string?: TextRules
  int32?: NumberRules
  uint32?: NumberRules
  repeated?: { items?: { string?: TextRules } }
}
type TextRules = { minLen?: string; maxLen?: string; pattern?: string } & JsonObject
type NumberRules = { gte?: number; lte?: number } & JsonObject

function lengths({ minLen, maxLen, pattern }: TextRules = {}): Rule[] {
  return [
    ...(minLen === undefined ? [] : [{ rule: 'minLength' as const, value: Number(minLen) }]),
    ...(maxLen === undefined ? [] : [{ rule: 'maxLength' as const, value: Number(maxLen) }]),
    ...(pattern === undefined
      ? []
      : [{ rule: 'pattern' as const, value: pattern, says: `does not match regex pattern \`${pattern}\`` }]),
  ]
}

function numbers({ gte, lte }: NumberRules = {}): Rule[] {
  return gte === undefined || lte === undefined ? [] : [{ rule: 'range', from: gte, to: lte }]
}

// Other expressions look at more than the text, and are left to the API.
function celRule(says: string, expression: string): Rule[] {
  const [, orEmpty, pattern] = /^(this == '' \|\| )?this\.matches\('([^'\\]+)'\)$/.exec(expression) ?? []
  return pattern === undefined ? [] : [{ rule: 'pattern', value: orEmpty ? `^$|${pattern}` : pattern, says }]
}
