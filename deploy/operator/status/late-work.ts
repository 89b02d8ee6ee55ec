import type { Status } from './status-lines.ts'

/** Names what waits for longer than some seconds on its way from an event to whoever is to hear of it. */
export function lateWork(
  { intake, followers, stream, jobs, due }: Pick<Status, 'intake' | 'followers' | 'stream' | 'jobs' | 'due'>,
  late: number,
): string[] {
  const waits = [
    ...Object.entries(intake ?? {}).map(([name, { seconds }]) => ({
      what: `an event of ${name} waits for the notifier`,
      seconds,
    })),
    ...Object.entries(followers).flatMap(([service, own]) =>
      Object.entries(own).map(([name, { seconds }]) => ({
        what: `${service}: an event waits for the follower ${name}`,
        seconds,
      })),
    ),
    ...Object.entries(stream?.consumers ?? {}).map(([name, { seconds }]) => ({
      what: `a message of the stream waits for ${name}`,
      seconds,
    })),
    ...Object.entries(jobs ?? {}).map(([name, { seconds }]) => ({
      what: `a job of ${name} waits for a worker`,
      seconds,
    })),
    {
      what: 'a delivery to a webhook is due, and nothing is sent for its organization',
      seconds: due?.seconds ?? 0,
    },
  ]
  return waits
    .filter(({ seconds }) => seconds > late)
    .map(({ what, seconds }) => `${what}; it has for ${Math.round(seconds)} s`)
}
