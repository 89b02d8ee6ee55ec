import type { DescMessage, FileRegistry } from '@bufbuild/protobuf'
import { registry } from '../registry.ts'

/** The package of the messages that describe payloads. A payload that they cannot describe starts the next version. */
const version = 'v1'

/** The message that describes the payload of an event type. */
export interface EventMessage {
  desc: DescMessage
  /** `roster.user.email.code.requested.v1` */
  type: string
  /** `proto:roster.events.v1.UserEmailCodeRequested` */
  dataschema: string
}

/**
 * The message of an event type: `roster.events.v1.UserEmailCodeRequested` for `email.code.requested` of a `user`.
 * Throws where proto/ lacks the message.
 */
export function messageOf(aggregateType: string, type: string, from: FileRegistry = registry): EventMessage {
  const { type: published, name } = namesOf(aggregateType, type)
  const desc = from.getMessage(name)
  if (!desc) throw new Error(`${type} of ${aggregateType} is no event of proto/: ${name} is missing`)
  return { desc, type: published, dataschema: `proto:${name}` }
}

/**
 * The published name of an event type, and the name of its message in proto/, even where that message does not exist.
 */
export function namesOf(aggregateType: string, type: string): Names {
  const both = `${aggregateType}.${type}`
  let names = known.get(both)
  if (!names) {
    names = { type: `roster.${both}.${version}`, name: `roster.events.${version}.${camelCase(both)}` }
    // A service that sends ever new types must not fill the memory of its readers.
    if (known.size === 1000) known.clear()
    known.set(both, names)
  }
  return names
}

interface Names {
  type: string
  name: string
}

const known = new Map<string, Names>()

function camelCase(name: string): string {
  return name.replace(/(?:^|[._-])(.)/g, (_, first: string) => first.toUpperCase())
}
