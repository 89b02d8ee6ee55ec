import type { DescMessage, FileRegistry } from '@bufbuild/protobuf'
import { registry } from '../registry.ts'

/** The package of the messages that describe payloads; a payload that they cannot describe begins the next one. */
const version = 'v1'

/** What describes the payload of an event type. */
export interface EventMessage {
  desc: DescMessage
  /** `roster.user.email.code.requested.v1` */
  type: string
  /** `proto:roster.events.v1.UserEmailCodeRequested` */
  dataschema: string
}

/**
 * The message of an event type: `roster.events.v1.UserEmailCodeRequested` for `email.code.requested` of a `user`. Throws where
 * proto/ has none.
 */
export function messageOf(aggregateType: string, type: string, from: FileRegistry = registry): EventMessage {
  const { type: published, name } = namesOf(aggregateType, type)
  const desc = from.getMessage(name)
  if (!desc) throw new Error(`${type} of ${aggregateType} is no event of proto/: ${name} is missing`)
  return { desc, type: published, dataschema: `proto:${name}` }
}

/** How an event type is published, and how its message is called in proto/, whether it has one or not. */
export function namesOf(aggregateType: string, type: string): Names {
  const both = `${aggregateType}.${type}`
  let names = known.get(both)
  if (!names) {
    names = { type: `roster.${both}.${version}`, name: `roster.events.${version}.${camelCase(both)}` }
    // A service that tells of types without end must not fill its readers' memory.
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
