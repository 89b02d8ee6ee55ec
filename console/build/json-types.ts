import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'

/** The name of a message or enum in TypeScript: `roster.users.v1.User` is `UsersUser`, so that no two share a name. */
export function nameOf({ typeName }: DescMessage | DescEnum): string {
  const words = typeName.split('.').filter((word) => word !== 'roster' && !/^v\d+$/.test(word))
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

/** The messages and enums that the fields of a message have. */
export function neighbours({ fields, typeName }: DescMessage): { messages: DescMessage[]; enums: DescEnum[] } {
  if (wellKnown[typeName] !== undefined) return { messages: [], enums: [] }
  return {
    messages: fields
      .flatMap((field) => field.message ?? [])
      .filter((message) => wellKnown[message.typeName] === undefined),
    enums: fields.flatMap((field) => field.enum ?? []),
  }
}

export function enumType(desc: DescEnum): string {
  return `export type ${nameOf(desc)} =\n${desc.values.map(({ name }) => `  | '${name}'`).join('\n')}`
}

/** JSON leaves out what is empty, so every field may be missing. */
export function messageType(desc: DescMessage): string {
  const fields = desc.fields.map((field) => `  ${field.jsonName}?: ${typeOf(field)}`)
  return `export interface ${nameOf(desc)} {\n${fields.join('\n')}\n}`
}

function typeOf(field: DescField): string {
  if (field.fieldKind === 'map') return `Record<string, ${single(field)}>`
  const type = single(field)
  return field.fieldKind === 'list' ? `${type.includes(' ') ? `(${type})` : type}[]` : type
}

function single(field: DescField): string {
  if (field.message) return wellKnown[field.message.typeName] ?? nameOf(field.message)
  if (field.enum) return nameOf(field.enum)
  return scalarType(field.scalar)
}

function scalarType(scalar: ScalarType): string {
  if (scalar === ScalarType.BOOL) return 'boolean'
  // 64 bits are a text in JSON; bytes are in base64.
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES || longs.has(scalar)) return 'string'
  return 'number'
}

const longs = new Set([ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64, ScalarType.FIXED64, ScalarType.SFIXED64])

/** Messages whose JSON is no object of their fields. */
const wellKnown: Record<string, string> = {
  'google.protobuf.Timestamp': 'string',
  'google.protobuf.Duration': 'string',
  'google.protobuf.FieldMask': 'string',
  'google.protobuf.Struct': 'Record<string, unknown>',
  'google.protobuf.Value': 'unknown',
  'google.protobuf.ListValue': 'unknown[]',
  'google.protobuf.Any': "{ '@type': string }",
  'google.protobuf.Empty': 'Record<string, never>',
  'google.protobuf.BoolValue': 'boolean',
  'google.protobuf.StringValue': 'string',
  'google.protobuf.Int32Value': 'number',
  'google.protobuf.UInt32Value': 'number',
}
