import { EventCursor } from '#gen/roster/feed/v1/feed'
import { invalid } from '#lib/errors'

/** The place in the events of each service, by its name. */
export type Cursor = EventCursor['services']

/** A cursor as clients keep it: text that a URL can hold. */
export function writeCursor(services: Cursor): string {
  return Buffer.from(EventCursor.encode({ services }).finish()).toString('base64url')
}

/**
 * The cursor that `writeCursor` wrote. Services that are not known here stay in it: a newer replica may have made it.
 * INVALID_ARGUMENT CURSOR_INVALID.
 */
export function readCursor(text: string): Cursor {
  try {
    const { services } = EventCursor.decode(Buffer.from(text, 'base64url'))
    // Most texts are some message to protobuf, all of whose fields are unknown.
    if (writeCursor(services) === text) return services
  } catch {}
  throw invalid([{ field: 'cursor', description: 'is not one that an answer gave' }], 'CURSOR_INVALID')
}
