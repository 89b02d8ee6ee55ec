/** The core NATS subject for changes of a user's tokens or roles. The message names the user id, or `everybodyOf`. */
export const callersChanged = 'roster.callers.changed'

/** Names all users of an organization and all that hold a role there. No user id has this form. */
export function everybodyOf(organizationId: string): string {
  return `@${organizationId}`
}

/** The organization that a message names; undefined where it names a user. */
export function organizationOf(message: string): string | undefined {
  return message.startsWith('@') ? message.slice(1) : undefined
}

/**
 * The core NATS subject on which a service announces new events; `*` for every service. A listener that misses a hint
 * looks later.
 */
export function hintSubject(service: string): string {
  return `roster.happened.${service}`
}

/** The parts of an event that filters can check in advance. */
export interface Hint {
  organizationId: string
  /** Aggregate type and event type, such as `user.email.changed`. */
  type: string
}

/** A hint at these events, with each organization and type once. A blank separates the two; neither contains one. */
export function writeHints(events: { organization_id: string; aggregate_type: string; type: string }[]): string {
  return JSON.stringify([
    ...new Set(
      events.map((event) => `${encode(event.organization_id)} ${encode(`${event.aggregate_type}.${event.type}`)}`),
    ),
  ])
}

/** Reads the output of `writeHints`. Any other text gives no hints. */
export function readHints(text: string): Hint[] {
  try {
    return (JSON.parse(text) as string[]).map((hint) => {
      const [organizationId = '', type = ''] = hint.split(' ').map(decodeURIComponent)
      return { organizationId, type }
    })
  } catch {
    return []
  }
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
