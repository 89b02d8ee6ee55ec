import type { Called, Command } from '../command.ts'
import { table } from '../output.ts'
import { openAttempts } from './attempts.ts'
import { most } from './backlog.ts'
import { lookAtFollowers, lookAtIntake } from './look-at-followers.ts'
import { lookAtErasures, storesToClean } from './look-at-erasures.ts'
import { type KeyStatus, lookAtKeys } from './look-at-keys.ts'
import { lookAtDeliveries, lookAtDue, lookAtJobs, lookAtStream } from './look-at-queues.ts'
import { lookAtServices, type Replica } from './look-at-services.ts'
import { type ChainStatus, lookAtChain, lookAtOutbox, type OutboxStatus } from './look-at-store.ts'
import { type Status, waitingOf } from './waiting.ts'

/** Seconds that an event may wait to be published before it is a matter for somebody. */
const late = 60

export const status: Command = {
  name: 'status',
  summary: 'Shows what runs, in which version, what waits, and dead letters.',
  more: [
    `Exit status 1 where a service or server does not answer, there is a dead letter, or something waits for ${late} seconds.`,
    'That is an event on its way to the stream, to the audit chain, to the notifier or to a follower; a message for the',
    'consumer; a job that no worker takes; or a delivery that is due while nothing is sent for its organization. What',
    'rests before another try, because a receiver or the mail server failed, does not count.',
    `Counts of waiting events end at ${most}.`,
    'Of a large number of users, the keys of some are looked at, others each time. `verify` looks at all.',
  ],
  arguments: [0, 0],
  showsObstacle: true,
  run,
}

async function run({ system, output, obstacle }: Called): Promise<number> {
  const attempts = openAttempts(system)
  const { at, inEach, inService } = attempts
  const [services, tails, intake, followers, deliveries, due, stream, jobs, forgettings, chains, keys] =
    await Promise.all([
      at('services', () => lookAtServices(system)),
      inEach(lookAtOutbox),
      lookAtIntake(attempts),
      lookAtFollowers(attempts),
      inService('notifier', lookAtDeliveries),
      inService('notifier', lookAtDue),
      at('stream', () => lookAtStream(system)),
      at('jobs', () => lookAtJobs(system)),
      lookAtErasures(system, attempts),
      inEach(lookAtChain),
      inService('users', () => lookAtKeys(system)),
    ])
  const found = { services, tails, chains, intake, followers, deliveries, due, stream, jobs, forgettings, keys }
  /** What somebody should look at. */
  const why = await obstacle
  const attention = [...(why === undefined ? [] : [why]), ...attempts.problems(), ...problemsOf(found)]
  if (output.isJson) await output.json({ ...found, attention })
  else for (const line of linesOf(found, attention)) output.line(line)
  return attention.length > 0 ? 1 : 0
}

function problemsOf(found: Status): string[] {
  const { services, tails, chains, forgettings, keys } = found
  const waits = waitingOf(found).filter(({ seconds = 0 }) => seconds > late)
  const toClean = storesToClean(forgettings).filter(({ seconds }) => seconds > late)
  const versions = new Set(Object.values(services ?? {}).flatMap((replicas) => replicas.map(({ version }) => version)))
  return [
    ...Object.entries(services ?? {}).flatMap(([name, replicas]) => replicaProblems(name, replicas)),
    ...Object.entries(tails).flatMap(([name, outbox]) => outboxProblems(name, outbox)),
    ...waits.flatMap(({ late: what, seconds }) => (what ? [`${what}; it has for ${Math.round(seconds!)} s`] : [])),
    ...toClean.map(
      ({ store, seconds }) => `${store} may still identify a user who was removed ${Math.round(seconds)} s ago`,
    ),
    ...Object.entries(chains).flatMap(([name, chain]) => chainProblems(name, chain)),
    ...(keys?.lost
      ? [`users: the keys of ${keys.lost} users are lost, such as of ${keys.users.join(', ')}: no key decrypts them`]
      : []),
    ...(versions.size > 1 ? [`several versions run: ${[...versions].toSorted().join(', ')}`] : []),
  ]
}

function replicaProblems(service: string, replicas: Replica[]): string[] {
  if (replicas.length === 0) return [`${service}: no replica answers`]
  return replicas.flatMap(({ host, waiting, starting }) => {
    const state = starting ? 'has not started' : 'cannot do all its work'
    return waiting || starting ? [`${service} at ${host} ${state}${waiting && `; it waits for ${waiting}`}`] : []
  })
}

function outboxProblems(service: string, { parked, parkedForFollowers, seconds, aheadSince }: OutboxStatus): string[] {
  return [
    ...(aheadSince
      ? [
          `${service}: the stream has events that the database lacks, noticed at ${aheadSince}: see "roster history show"`,
        ]
      : []),
    ...(parked > 0 ? [`${service}: dead letters of the outbox: ${parked}`] : []),
    ...(parkedForFollowers > 0 ? [`${service}: dead letters of followers: ${parkedForFollowers}`] : []),
    ...(seconds > late ? [`${service}: an event waits for ${Math.round(seconds)} s`] : []),
  ]
}

function chainProblems(service: string, { held, seconds, unsigned, mayWait }: ChainStatus): string[] {
  if (held) return [`${service}: the audit chain is held, because stored events are being changed`]
  if (seconds > late) return [`${service}: an event waits ${Math.round(seconds)} s for the audit chain`]
  return unsigned > mayWait ? [`${service}: no checkpoint was signed for ${Math.round(unsigned)} s`] : []
}

// For people.
function linesOf(found: Status, attention: string[]): string[] {
  const { services, tails, chains, stream, keys } = found
  const replicas = Object.entries(services ?? {}).flatMap(([name, all]) =>
    all.map(({ version, host, calls, errors }) => [name, version, host, calls, errors]),
  )
  const published = Object.entries(tails).map(([name, { waiting, seconds, parked, parkedForFollowers }]) => {
    return [name, waiting, seconds.toFixed(1), parked, parkedForFollowers]
  })
  const chained = Object.entries(chains).map(([name, { epoch, waiting, unsigned }]) => {
    return [name, waiting, unsigned.toFixed(1), epoch]
  })
  const waiting = waitingOf(found).flatMap(({ label, number }) => (label === undefined ? [] : [[label, number!]]))
  return [
    ...(replicas.length > 0 ? table(['SERVICE', 'VERSION', 'HOST', 'CALLS', 'ERRORS'], replicas) : []),
    '',
    ...table(['EVENTS OF', 'WAITING', 'SECONDS', 'PARKED', 'FOLLOWERS PARKED'], published),
    '',
    ...table(['AUDIT CHAIN OF', 'WAITING', 'SECONDS UNSIGNED', 'EPOCH'], chained),
    '',
    ...table(['WAITING', 'NUMBER'], waiting),
    ...(keys ? ['', keyLine(keys)] : []),
    ...(stream ? ['', `stream: ${stream.messages} messages, ${stream.first} to ${stream.last}`] : []),
    '',
    ...(attention.length > 0 ? attention.map((line) => `! ${line}`) : ['All is well.']),
  ]
}

function keyLine({ looked, isAll, opened, lost }: KeyStatus): string {
  const what = opened ? 'lost' : 'missing; without ROSTER_OPERATOR_PERSONAL_KEY the others were not tried'
  return `keys of users: ${isAll ? `all ${looked}` : `${looked} of them`} looked at, ${lost} ${what}`
}
