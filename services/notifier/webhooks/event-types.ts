import type { DescMessage } from '@bufbuild/protobuf'
import { meansType, plainType } from '#lib/events/event-type'
import { registry } from '#lib/registry'

/**
 * Aggregate types of more than one word. Message names do not show where such a type ends and the event type begins.
 */
const compounds = [
  'idp_organization',
  'project_grant',
  'provider_table',
  'removed_user',
  'user_closure',
  'user_grant',
  'user_organization',
  'webhook_organization',
]

/** Every published type of event, such as `roster.user.email.changed.v1`. */
export const eventTypes: readonly string[] = findEventTypes()

/** Whether the filter matches a type of event: a whole type, or a beginning such as `roster.user.*`. */
export function isEventType(filter: string): boolean {
  return eventTypes.some((type) => meansType(filter, plainType(type)))
}

/** Whether an event of this type is for a webhook with these filters. */
export function passes(filters: string[], type: string): boolean {
  return filters.length === 0 || filters.some((filter) => meansType(filter, plainType(type)))
}

function findEventTypes(): string[] {
  const messages = [...registry].filter(
    (type) => type.kind === 'message' && /^roster\.events\.v\d+\.\w+$/.test(type.typeName),
  ) as DescMessage[]
  // A message that is a field of another message is no event, but a part of a payload.
  const parts = new Set(messages.flatMap(({ fields }) => fields.map(({ message }) => message)))
  return messages.filter((message) => !parts.has(message)).map(({ typeName }) => toEventType(typeName))
}

function toEventType(typeName: string): string {
  const [version, name] = typeName.split('.').slice(2) as [string, string]
  const dotted = name.replace(/(?!^)[A-Z]/g, '.$&').toLowerCase()
  const compound = compounds.find((aggregate) => dotted.startsWith(`${aggregate.replace('_', '.')}.`))
  return `roster.${compound ? compound + dotted.slice(compound.length) : dotted}.${version}`
}
