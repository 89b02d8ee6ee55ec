import { EventCursor } from '#gen/roster/feed/v1/feed'
import { invalid } from '#lib/errors'

/** The place in each service's events, by the service's name. */
export type Cursor = EventCursor['services']

/** Writes a cursor for clients: text that a URL can hold. */
export function writeCursor(services: Cursor): string {
  return Buffer.from(EventCursor.encode({ services }).finish()).toString('base64url')
}

/**
 * Reads a cursor of `writeCursor`. Keeps unknown services in it: a newer replica may have written it. INVALID_ARGUMENT
 * CURSOR_INVALID.
 */
export function readCursor(text: string): Cursor {
  try {
    const { services } = EventCursor.decode(Buffer.from(text, 'base64url'))
    // Protobuf reads most texts as a message of nothing but unknown fields.
    if (writeCursor(services) === text) return services
  } catch {}
  throw invalid([{ field: 'cursor', description: 'is not a cursor from an answer' }], 'CURSOR_INVALID')
}
