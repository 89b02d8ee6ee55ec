import type { Status } from './status.ts'
import { storesToClean } from './look-at-forgettings.ts'

/** Something on its way from an event to whoever is to hear of it. */
interface Waiting {
  /** How the table names it, and how many wait. */
  label?: string
  number?: number
  /** What is said where it has waited for so many seconds. */
  late?: string
  seconds?: number
}

/** All that waits. */
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
