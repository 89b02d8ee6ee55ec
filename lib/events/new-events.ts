import { getOption } from '@bufbuild/protobuf'
import { isNew } from '../health/release.ts'
import { registry } from '../registry.ts'
import { namesOf } from './messages.ts'
import type { EventRow } from './stored-event.ts'

/** Whether proto/ says that the event came with this release, and waits while a replica of the former one runs. */
export function isNewEvent({ aggregate_type, type }: Pick<EventRow, 'aggregate_type' | 'type'>): boolean {
  return messages.size > 0 && messages.has(namesOf(aggregate_type, type).name)
}

const since = registry.getExtension('roster.options.v1.event_since')!
const messages = new Set(
  [...registry].flatMap((desc) =>
    desc.kind === 'message' && isNew(getOption(desc, since) as string) ? desc.typeName : [],
  ),
)
