import { type DescEnum, type DescField, type JsonValue, ScalarType } from '@bufbuild/protobuf'

/** Says in words which value a field expects instead of this one. */
export function expectationOf({ scalar, message, enum: enumeration }: DescField, value: JsonValue): string {
  if (enumeration) return `one of ${namesOf(enumeration)}`
  if (message) return message.typeName === 'google.protobuf.Timestamp' ? 'an RFC 3339 time' : `a ${message.typeName}`
  if (scalar === ScalarType.STRING && typeof value === 'string') return 'well-formed Unicode text'
  return scalar === undefined ? 'a value' : descriptions[scalar]
}

const descriptions: Record<ScalarType, string> = {
  [ScalarType.STRING]: 'a string',
  [ScalarType.BOOL]: 'true or false',
  [ScalarType.BYTES]: 'a string in base64',
  [ScalarType.DOUBLE]: 'a number',
  [ScalarType.FLOAT]: 'a number',
  [ScalarType.INT32]: 'a whole number of 32 bits',
  [ScalarType.SINT32]: 'a whole number of 32 bits',
  [ScalarType.SFIXED32]: 'a whole number of 32 bits',
  [ScalarType.UINT32]: 'a whole number of 32 bits, not negative',
  [ScalarType.FIXED32]: 'a whole number of 32 bits, not negative',
  [ScalarType.INT64]: 'a whole number of 64 bits',
  [ScalarType.SINT64]: 'a whole number of 64 bits',
  [ScalarType.SFIXED64]: 'a whole number of 64 bits',
  [ScalarType.UINT64]: 'a whole number of 64 bits, not negative',
  [ScalarType.FIXED64]: 'a whole number of 64 bits, not negative',
}

function namesOf(enumeration: DescEnum): string {
  return enumeration.values.map(({ name }) => name).join(', ')
}
