import {
  type DescEnum,
  type DescExtension,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  hasOption,
  isMessage,
  ScalarType,
  toJson,
} from '@bufbuild/protobuf'
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import { registry } from '#lib/registry'

/** All that proto/ declares for Roster and for clients of the reference system, in plain text: a change of the contract is a change of this text. */
export function declared(): string {
  const own = [...registry].filter(({ typeName }) => /^(roster|zitadel)\./.test(typeName))
  const services = own.flatMap((desc) => (desc.kind === 'service' ? [spellService(desc)] : []))
  const messages = own.flatMap((desc) => (desc.kind === 'message' ? [spellMessage(desc)] : []))
  const enums = own.flatMap((desc) => (desc.kind === 'enum' ? [spellEnum(desc)] : []))
  const sections = [services, messages, enums].flatMap((kind) => kind.toSorted())
  return `${sections.join('\n\n')}\n`
}

function spellService(service: DescService): string {
  return [`service ${service.typeName}`, ...service.methods.map(spellMethod)].join('\n')
}

function spellMethod(method: DescMethod): string {
  const { name, input, output, methodKind, idempotency, deprecated } = method
  const stream = methodKind === 'server_streaming' ? 'stream of ' : ''
  return [
    `  ${name}: ${input.typeName} -> ${stream}${output.typeName}`,
    ...options(method).map((option) => `    ${option}`),
    idempotency ? `    idempotency_level ${MethodOptions_IdempotencyLevel[idempotency]}` : [],
    deprecated ? '    deprecated' : [],
  ]
    .flat()
    .join('\n')
}

function spellMessage(message: DescMessage): string {
  const fields = message.fields.toSorted((left, right) => left.number - right.number)
  const oneofs = message.oneofs.flatMap((oneof) => options(oneof).map((option) => `  oneof ${oneof.name}: ${option}`))
  return [`message ${message.typeName}`, ...fields.map(spellField), ...oneofs].join('\n')
}

function spellField(field: DescField): string {
  const { number, name, jsonName, oneof, proto } = field
  const how = [
    proto.proto3Optional ? 'optional' : [],
    field.fieldKind === 'list' ? 'repeated' : [],
    typeOf(field),
    oneof && !proto.proto3Optional ? `of oneof ${oneof.name}` : [],
    field.deprecated ? 'deprecated' : [],
  ]
  return [`  ${number} ${name} (${jsonName}): ${how.flat().join(' ')}`, ...options(field)].join('\n      ')
}

function typeOf({ message, enum: values, scalar }: DescField): string {
  return message?.typeName ?? values?.typeName ?? ScalarType[scalar!].toLowerCase()
}

function spellEnum({ typeName, values }: DescEnum): string {
  return [`enum ${typeName}`, ...values.map(({ number, name }) => `  ${number} ${name}`)].join('\n')
}

// Every option that is set, with its value in JSON: a new option is in the text at once.
function options(desc: DescMethod | DescField | DescMessage['oneofs'][number]): string[] {
  return [...registry].flatMap((extension) => {
    if (extension.kind !== 'extension' || extension.extendee.typeName !== desc.proto.options?.$typeName) return []
    // `never`: that the extension is one of this kind of descriptor, the compiler cannot know.
    if (!hasOption(desc as never, extension)) return []
    return [`${extension.typeName} ${valueOf(extension, getOption(desc as never, extension))}`]
  })
}

function valueOf(extension: DescExtension, value: unknown): string {
  if (isMessage(value)) return JSON.stringify(toJson(registry.getMessage(value.$typeName)!, value, { registry }))
  return extension.enum?.value[value as number]?.name ?? String(value)
}
