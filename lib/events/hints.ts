/** The core NATS subject that announces, by user id, that the tokens or the roles of a user changed. */
export const callersChanged = 'roster.callers.changed'

/** The core NATS subject on which a service says that it has new events; `*` for every service. Who misses one looks later. */
export function hintSubject(service: string): string {
  return `roster.happened.${service}`
}

/** What of an event tells whether it may pass a filter. */
export interface Hint {
  organizationId: string
  /** Aggregate type and event type, such as `user.email.changed`. */
  type: string
}

/** A hint at these events: each organization and type once, with a blank in between that neither has. */
export function writeHints(events: { organization_id: string; aggregate_type: string; type: string }[]): string {
  return JSON.stringify([
    ...new Set(
      events.map((event) => `${encode(event.organization_id)} ${encode(`${event.aggregate_type}.${event.type}`)}`),
    ),
  ])
}

/** What `writeHints` wrote; nothing where somebody else wrote something else. */
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
