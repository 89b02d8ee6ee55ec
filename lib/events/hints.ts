/**
 * The core NATS subject for changes of a user's tokens or roles. The message names the user id, or `everybodyOf`, or
 * `everythingOf`.
 */
export const callersChanged = 'roster.callers.changed'

/** Names all users of an organization and all that hold a role there. No user id has this form. */
export function everybodyOf(organizationId: string): string {
  return `@${organizationId}`
}

/** Names all tokens of an application or a project, by its closure, such as `application-<id>`. No user id has this form. */
export function everythingOf(closure: string): string {
  return closure.replace('-', '/')
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

/**
 * The core NATS subject on which users announces the mails that have no event. It is named after the first kind of
 * these. A notifier that misses one finds the mail later.
 */
export const mailsWithoutEvent = 'roster.mails.registration'

/** A mail that has no event: ids and times, no code and no address. */
export interface MailWithoutEvent {
  /** Where there is no user yet, the request that it belongs to. */
  userId: string
  codeId: string
  organizationId: string
  /** RFC 3339. */
  expiresAt: string
  kind: string
}

/** Reads the announcement of such a mail. Undefined for any other text. */
export function readMailWithoutEvent(text: string): MailWithoutEvent | undefined {
  try {
    const given = JSON.parse(text) as Record<string, unknown>
    // Earlier versions announce those of registrations alone, without a kind.
    const { userId, codeId, organizationId, expiresAt, kind = 'registration' } = given
    const mail = { userId, codeId, organizationId, expiresAt, kind }
    return Object.values(mail).every((value) => typeof value === 'string') ? (mail as MailWithoutEvent) : undefined
  } catch {
    return undefined
  }
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
