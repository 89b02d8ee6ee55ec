/**
 * The durable consumers of the stream by name, each with the subject of its events. The keeper of the stream creates
 * them. A service must not create one: the creator of a consumer chooses where it delivers.
 */
export const consumers = {
  notifier: 'roster.events.users.*.user.*.email.code.requested',
} as const
