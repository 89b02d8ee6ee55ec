import type { StoringService } from '../../provision.ts'
import { table } from '../output.ts'
import type { Backlog } from './backlog.ts'
import type { ChainStatus } from './look-at-chains.ts'
import type { KeyStatus } from './look-at-keys.ts'
import type { JobsStatus, lookAtDeliveries, lookAtDue, StreamStatus } from './look-at-queues.ts'
import type { Answering, Replica } from './look-at-services.ts'
import { type lookAtForgettings, storesToClean } from './look-at-forgettings.ts'
import type { TailStatus } from './look-at-tails.ts'

/** What `status` found. Undefined is what could not be looked at. */
export interface Status {
  services: Record<Answering, Replica[]> | undefined
  tails: Partial<Record<StoringService, TailStatus>>
  chains: Partial<Record<StoringService, ChainStatus>>
  intake: Record<string, Backlog> | undefined
  followers: Partial<Record<StoringService, Record<string, Backlog>>>
  deliveries: Awaited<ReturnType<typeof lookAtDeliveries>> | undefined
  /** What is due to webhooks while nothing is sent for their organization. */
  due: Awaited<ReturnType<typeof lookAtDue>> | undefined
  stream: StreamStatus | undefined
  jobs: Record<string, JobsStatus> | undefined
  forgettings: Awaited<ReturnType<typeof lookAtForgettings>>
  keys: KeyStatus | undefined
  /** What somebody should look at. */
  attention: string[]
}

/** Shows it to people. */
export function statusLines(found: Status): string[] {
  const { services, tails, chains, intake, followers, deliveries, stream, jobs, forgettings, keys, attention } = found
  const replicas = Object.entries(services ?? {}).flatMap(([name, all]) =>
    all.map(({ version, host, calls, errors }) => [name, version, host, calls, errors]),
  )
  const published = Object.entries(tails).map(([name, tail]) => {
    return [name, tail.waiting, tail.seconds.toFixed(1), tail.parked, tail.parkedForFollowers]
  })
  const chained = Object.entries(chains).map(([name, { epoch, waiting, unsigned }]) => {
    return [name, waiting, unsigned.toFixed(1), epoch]
  })
  const waiting = [
    ...Object.entries(intake ?? {}).map(([name, { waiting }]) => [`events of ${name} for the notifier`, waiting]),
    ...Object.entries(followers).flatMap(([service, own]) =>
      Object.entries(own).map(([name, { waiting }]) => [`events for the follower ${name} of ${service}`, waiting]),
    ),
    ...Object.entries(stream?.consumers ?? {}).map(([name, { waiting, underWay }]) => {
      return [`messages of the stream for ${name}`, waiting + underWay]
    }),
    ...storesToClean(forgettings).map(({ store, waiting }) => [`removed users in ${store}`, waiting]),
    ...Object.entries(deliveries ?? {}).map(([kind, { waiting }]) => [`deliveries, ${kind}`, waiting]),
    ...Object.entries(jobs ?? {}).flatMap(([name, { counts }]) =>
      Object.entries(counts).map(([state, number]) => [`jobs of ${name}, ${state}`, number]),
    ),
  ]
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
  const what = opened ? 'lost' : 'missing; without ROSTER_OPERATOR_PERSONAL_KEY nobody tried to open the others'
  return `keys of users: ${isAll ? `all ${looked}` : `${looked} of them`} looked at, ${lost} ${what}`
}
