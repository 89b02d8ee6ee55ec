import {
  type DescExtension,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  hasOption,
  isMessage,
  toJson,
} from '@bufbuild/protobuf'
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import { registry } from '#lib/registry'

/**
 * What `buf breaking` does not see of proto/, in plain text: routes, permissions, rules and every other option. A
 * change of these is a change of this text. Names, numbers and types are in proto/ alone.
 */
export function declared(): string {
  const own = [...registry].filter(({ typeName }) => /^(roster|zitadel)\./.test(typeName))
  const services = own.flatMap((desc) => (desc.kind === 'service' ? [spellService(desc)] : []))
  const messages = own.flatMap((desc) => (desc.kind === 'message' ? spellMessage(desc) : []))
  return `${[services, messages].flatMap((kind) => kind.toSorted()).join('\n\n')}\n`
}

function spellService(service: DescService): string {
  return [`service ${service.typeName}`, ...service.methods.map(spellMethod)].join('\n')
}

function spellMethod(method: DescMethod): string {
  const { name, idempotency } = method
  return [
    `  ${name}`,
    ...options(method).map((option) => `    ${option}`),
    ...(idempotency ? [`    idempotency_level ${MethodOptions_IdempotencyLevel[idempotency]}`] : []),
  ].join('\n')
}

function spellMessage(message: DescMessage): string[] {
  const { typeName, fields, oneofs } = message
  const parts = [...fields.toSorted((left, right) => left.number - right.number), ...oneofs].flatMap((part) =>
    options(part).map((option) => `  ${part.name}: ${option}`),
  )
  const lines = [...options(message).map((option) => `  ${option}`), ...parts]
  return lines.length > 0 ? [[`message ${typeName}`, ...lines].join('\n')] : []
}

// Every option that is set, with its value in JSON: a new option is in the text at once.
function options(desc: DescMethod | DescField | DescMessage | DescMessage['oneofs'][number]): string[] {
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
