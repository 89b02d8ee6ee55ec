import type { DescMessage, FileRegistry } from '@bufbuild/protobuf'
import { registry } from '../rpc/methods.ts'

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
  const name = `roster.events.${version}.${camelCase(`${aggregateType}.${type}`)}`
  const desc = from.getMessage(name)
  if (!desc) throw new Error(`${type} of ${aggregateType} is no event of proto/: ${name} is missing`)
  return { desc, type: `roster.${aggregateType}.${type}.${version}`, dataschema: `proto:${name}` }
}

function camelCase(name: string): string {
  return name.replace(/(?:^|[._-])(.)/g, (_, first: string) => first.toUpperCase())
}
