import type { Called, Command } from '../command.ts'
import { openAttempts } from './attempts.ts'
import { most } from './backlog.ts'
import { type ChainStatus, lookAtChain } from './look-at-chains.ts'
import { lookAtKeys } from './look-at-keys.ts'
import { lateWork } from './late-work.ts'
import { lookAtFollowers, lookAtIntake } from './look-at-followers.ts'
import { lookAtDeliveries, lookAtDue, lookAtJobs, lookAtStream } from './look-at-queues.ts'
import { answering, lookAtServices } from './look-at-services.ts'
import { lookAtForgettings, storesToClean } from './look-at-forgettings.ts'
import { lookAtTail } from './look-at-tails.ts'
import { type Status, statusLines } from './status-lines.ts'

/** Seconds that an event may wait to be published before it is a matter for somebody. */
const late = 60

/** The command `status`. */
export const status: Command = {
  name: 'status',
  summary: 'Shows what runs, in which version, and what waits or is parked.',
  more: [
    `Exit status 1 where a service or server does not answer, an event is parked, or something waits for ${late} seconds.`,
    'That is an event on its way to the stream, to the audit chain, to the notifier or to a follower; a message for the',
    'consumer; a job that no worker takes; or a delivery that is due while nothing is sent for its organization. What',
    'rests before another try, because a receiver or the mail server failed, does not count.',
    `Counts of waiting events end at ${most}.`,
    'Of a large number of users, the keys of some are looked at, others each time. `verify` looks at all.',
  ],
  arguments: [0, 0],
  run,
}

async function run({ system, output }: Called): Promise<number> {
  const attempts = openAttempts(system)
  const { at, inEach, inService } = attempts
  const [services, tails, intake, followers, deliveries, due, stream, jobs, forgettings, chains, keys] =
    await Promise.all([
      at('services', () => lookAtServices(system)),
      inEach(lookAtTail),
      lookAtIntake(attempts),
      lookAtFollowers(attempts),
      inService('notifier', lookAtDeliveries),
      inService('notifier', lookAtDue),
      at('stream', () => lookAtStream(system)),
      at('jobs', () => lookAtJobs(system)),
      lookAtForgettings(system, attempts),
      inEach(lookAtChain),
      inService('users', () => lookAtKeys(system)),
    ])
  const attention = [
    ...attempts.problems(),
    ...(services ? answering.filter((name) => services[name].length === 0) : []).map(
      (name) => `${name}: no replica answers`,
    ),
    ...Object.entries(services ?? {}).flatMap(([name, replicas]) =>
      replicas
        .filter(({ waiting, starting }) => waiting !== '' || starting)
        .map(({ host, waiting, starting }) => {
          const state = starting ? 'has not started' : 'cannot do all its work'
          return `${name} at ${host} ${state}${waiting && `; it waits for ${waiting}`}`
        }),
    ),
    ...Object.entries(tails).flatMap(([name, tail]) => [
      ...(tail.parked > 0 ? [`${name}: ${tail.parked} events are parked`] : []),
      ...(tail.parkedForFollowers > 0 ? [`${name}: followers went on without ${tail.parkedForFollowers} events`] : []),
      ...(tail.seconds > late ? [`${name}: an event waits for ${Math.round(tail.seconds)} s`] : []),
    ]),
    ...lateWork({ intake, followers, stream, jobs, due }, late),
    ...storesToClean(forgettings)
      .filter(({ seconds }) => seconds > late)
      .map(({ store, seconds }) => `${store} may still tell of a user who was removed ${Math.round(seconds)} s ago`),
    ...Object.entries(chains).flatMap(([name, chain]) => chainProblems(name, chain)),
    ...(keys && keys.lost > 0
      ? [`users: the keys of ${keys.lost} users are lost, such as of ${keys.users.join(', ')}: nobody can read them`]
      : []),
    ...mixed(services ?? {}),
  ]
  const found: Status = { services, tails, chains, intake, followers, deliveries, due, stream, jobs, forgettings, keys, attention } // prettier-ignore
  if (output.isJson) await output.json(found)
  else for (const line of statusLines(found)) output.line(line)
  return attention.length > 0 ? 1 : 0
}

function chainProblems(service: string, { held, seconds, unsigned, mayWait }: ChainStatus): string[] {
  if (held) return [`${service}: the audit chain is held, because stored events are being changed`]
  if (seconds > late) return [`${service}: an event waits ${Math.round(seconds)} s for the audit chain`]
  return unsigned > mayWait ? [`${service}: no checkpoint was signed for ${Math.round(unsigned)} s`] : []
}

function mixed(services: Partial<Record<string, { version: string }[]>>): string[] {
  const versions = new Set(Object.values(services).flatMap((replicas) => replicas!.map(({ version }) => version)))
  return versions.size > 1 ? [`several versions run: ${[...versions].toSorted().join(', ')}`] : []
}
