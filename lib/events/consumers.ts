/**
 * The durable consumers of the stream by name, each with the events that it gives. A service cannot make one, since whoever makes
 * one chooses where it delivers: the keeper of the stream makes these.
 */
export const consumers = {
  grants: 'roster.events.users.*.user.*.removed',
  notifier: 'roster.events.users.*.user.*.email.code.requested',
} as const
