/** How canonical JSON writes the messages of `google.protobuf` that have a form of their own. */
export const wellKnown: ReadonlyMap<string, object> = new Map<string, object>([
  ['google.protobuf.Timestamp', { type: 'string', format: 'date-time' }],
  ['google.protobuf.Duration', { type: 'string', pattern: String.raw`^-?[0-9]+(\.[0-9]{1,9})?s$` }],
  ['google.protobuf.FieldMask', { type: 'string', description: 'Names of fields, separated by commas.' }],
  ['google.protobuf.Struct', { type: 'object' }],
  ['google.protobuf.ListValue', { type: 'array', items: {} }],
  ['google.protobuf.Value', {}],
  ['google.protobuf.Empty', { type: 'object' }],
  ['google.protobuf.Any', { type: 'object', properties: { '@type': { type: 'string' } }, required: ['@type'] }],
])
