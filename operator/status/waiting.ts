import type { StoringService } from '../../deploy/provision.ts'
import type { Backlog } from './backlog.ts'
import { type Erasures, storesToClean } from './look-at-erasures.ts'
import type { KeyStatus } from './look-at-keys.ts'
import type { JobsStatus, lookAtDue, StreamStatus } from './look-at-queues.ts'
import type { Answering, Replica } from './look-at-services.ts'
import type { ChainStatus, OutboxStatus } from './look-at-store.ts'

/** What `status` found. Undefined is what could not be looked at. */
export interface Status {
  services: Record<Answering, Replica[]> | undefined
  tails: Partial<Record<StoringService, OutboxStatus>>
  chains: Partial<Record<StoringService, ChainStatus>>
  intake: Record<string, Backlog> | undefined
  followers: Partial<Record<StoringService, Record<string, Backlog>>>
  deliveries: Record<string, Backlog> | undefined
  /** What is due to webhooks while nothing is sent for their organization. */
  due: Awaited<ReturnType<typeof lookAtDue>> | undefined
  stream: StreamStatus | undefined
  jobs: Record<string, JobsStatus> | undefined
  forgettings: Erasures
  keys: KeyStatus | undefined
}

/** Something on its way from an event to whoever is to hear of it. */
interface Waiting {
  /** How the table names it, and how many wait. */
  label?: string
  number?: number
  /** What is said where it has waited for so many seconds. */
  late?: string
  seconds?: number
}

export function waitingOf({ intake, followers, stream, forgettings, deliveries, jobs, due }: Status): Waiting[] {
  return [
    ...Object.entries(intake ?? {}).map(([name, { waiting, seconds }]) => ({
      label: `events of ${name} for the notifier`,
      number: waiting,
      late: `an event of ${name} waits for the notifier`,
      seconds,
    })),
    ...Object.entries(followers).flatMap(([service, own]) =>
      Object.entries(own).map(([name, { waiting, seconds }]) => ({
        label: `events for the follower ${name} of ${service}`,
        number: waiting,
        late: `${service}: an event waits for the follower ${name}`,
        seconds,
      })),
    ),
    ...Object.entries(stream?.consumers ?? {}).map(([name, { waiting, underWay, seconds }]) => ({
      label: `messages of the stream for ${name}`,
      number: waiting + underWay,
      late: `a message of the stream waits for ${name}`,
      seconds,
    })),
    ...storesToClean(forgettings).map(({ store, waiting }) => ({
      label: `removed users in ${store}`,
      number: waiting,
    })),
    ...Object.entries(deliveries ?? {}).map(([kind, { waiting }]) => ({
      label: `deliveries, ${kind}`,
      number: waiting,
    })),
    ...Object.entries(jobs ?? {}).flatMap(([name, { counts, seconds }]) => [
      ...Object.entries(counts).map(([state, number]) => ({ label: `jobs of ${name}, ${state}`, number })),
      { late: `a job of ${name} waits for a worker`, seconds },
    ]),
    { late: 'a delivery to a webhook is due, and nothing is sent for its organization', seconds: due?.seconds ?? 0 },
  ]
}
