import type { Event } from '#gen/roster/feed/v1/feed'
import type { Copied } from '#gen/roster/grants/v1/internal_service'
import { plainType } from '#lib/events/event-type'
import { callersChanged, everythingOf } from '#lib/events/hints'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { because, startFollowing } from '#lib/subscriptions/follow'
import type { Context } from '../../context.ts'
import { closureKey } from './closures.ts'
import { noteCopies } from './note-copies.ts'

/**
 * Follows what grants does to applications and projects, from the first event on: so those that were there before this
 * release are known, too. An event only says of what: what is noted is grants' own answer.
 */
export function startFollowingApplications({ grants, sql, store }: Context, nats: Nats, log: Log): Service {
  return startFollowing({
    name: 'applications',
    service: 'grants',
    feed: grants.listEvents,
    // A project that has no application need not be known.
    eventTypes: [
      'application.*',
      ...['checks.changed', 'deactivated', 'reactivated', 'removed'].map((type) => `project.${type}`),
    ],
    async handle(event) {
      const call = because(event)
      const { copied } = await grants.lookupApplication({ by: namedBy(event) }, call)
      // A closure has the event that made it as its cause. Another one comes with its own event.
      const isCause = ({ id, closedSequence }: Copied) => id === event.aggregateId && closedSequence === event.sequence
      const noted = copied.map((copy) => (isCause(copy) ? copy : { ...copy, closedSequence: 0 }))
      await noteCopies({ sql, store }, noted, call)
      // Settings say who may come. What a gateway remembers of a token that acts in Roster may be wrong by now.
      if (plainType(event.type) === 'application.config.changed')
        nats.connection.publish(callersChanged, everythingOf(closureKey('application', event.aggregateId).id))
    },
    sql,
    nats,
    log,
  })
}

function namedBy({ type, aggregateId: value }: Event) {
  if (plainType(type).startsWith('project.')) return { $case: 'projectId', value } as const
  return { $case: 'applicationId', value } as const
}
