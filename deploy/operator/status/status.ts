import { storingServices, type StoringService } from '../../provision.ts'
import type { Called, Command } from '../command.ts'
import { table } from '../output.ts'
import { lookAtDeliveries, lookAtJobs, lookAtStream } from './look-at-queues.ts'
import { lookAtServices, type Replica } from './look-at-services.ts'
import { lookAtForgettings, lookAtIntake, lookAtTails, most } from './look-at-tails.ts'

/** Seconds that an event may wait to be published before it is a matter for somebody. */
const late = 60

/** The command `status`. */
export const status: Command = {
  name: 'status',
  summary: 'Shows what runs, in which version, and what waits or is parked.',
  more: [
    `Exit status 1 where a service or server does not answer, an event is parked, or something waits for ${late} seconds.`,
    `Counts of waiting events end at ${most}.`,
  ],
  arguments: [0, 0],
  run,
}

async function run({ system, output }: Called): Promise<number> {
  const failed: Record<string, string> = {}
  const look = async <T>(name: string, work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      failed[name] = (error as Error).message || String(error)
      return undefined
    })
  const [heard, tails, intake, deliveries, stream, jobs, forgettings] = await Promise.all([
    look('services', lookAtServices(system)),
    look('tails', lookAtTails(system)),
    look('intake', lookAtIntake(system)),
    look('deliveries', lookAtDeliveries(system)),
    look('stream', lookAtStream(system)),
    look('jobs', lookAtJobs(system)),
    look('forgettings', lookAtForgettings(system)),
  ])
  const services = heard?.replicas
  const attention = [
    ...Object.entries(failed).map(([name, reason]) => `${name}: cannot be looked at: ${reason}`),
    ...(services ? storingServices.filter((name) => services[name].length === 0) : []).map(
      (name) => `${name}: no replica answers`,
    ),
    ...Object.entries(heard?.unreadable ?? {})
      .filter(([, number]) => number > 0)
      .map(([name, number]) => `${name}: ${number} answers about its replicas cannot be read`),
    ...Object.entries(services ?? {}).flatMap(([name, replicas]) =>
      replicas
        .filter(({ waiting, starting }) => waiting !== '' || starting)
        .map(({ host, waiting, starting }) => {
          const state = starting ? 'has not started' : 'cannot do all its work'
          return `${name} at ${host} ${state}${waiting && `; it waits for ${waiting}`}`
        }),
    ),
    ...Object.entries(tails ?? {}).flatMap(([name, tail]) => [
      ...(tail.parked > 0 ? [`${name}: ${tail.parked} events are parked`] : []),
      ...(tail.parkedForFollowers > 0 ? [`${name}: followers went on without ${tail.parkedForFollowers} events`] : []),
      ...(tail.seconds > late ? [`${name}: an event waits for ${Math.round(tail.seconds)} s`] : []),
    ]),
    ...(forgettings && forgettings.seconds > late
      ? [`users: the stream still has events of a user who was removed ${Math.round(forgettings.seconds)} s ago`]
      : []),
    ...mixed(services ?? {}),
  ]
  const found = { services, tails, intake, deliveries, stream, jobs, forgettings, attention }
  if (output.isJson) await output.json(found)
  else for (const line of lines(found)) output.line(line)
  return attention.length > 0 ? 1 : 0
}

type Looked<T> = Awaited<T> | undefined

interface Found {
  services: Record<StoringService, Replica[]> | undefined
  tails: Looked<ReturnType<typeof lookAtTails>>
  intake: Looked<ReturnType<typeof lookAtIntake>>
  deliveries: Looked<ReturnType<typeof lookAtDeliveries>>
  stream: Looked<ReturnType<typeof lookAtStream>>
  jobs: Looked<ReturnType<typeof lookAtJobs>>
  forgettings: Looked<ReturnType<typeof lookAtForgettings>>
  attention: string[]
}

function mixed(services: Partial<Record<string, { version: string }[]>>): string[] {
  const versions = new Set(Object.values(services).flatMap((replicas) => replicas!.map(({ version }) => version)))
  return versions.size > 1 ? [`several versions run: ${[...versions].toSorted().join(', ')}`] : []
}

function lines({ services, tails, intake, deliveries, stream, jobs, forgettings, attention }: Found): string[] {
  const replicas = Object.entries(services ?? {}).flatMap(([name, all]) =>
    all.map(({ version, host, calls, errors }) => [name, version, host, calls, errors]),
  )
  const published = Object.entries(tails ?? {}).map(([name, tail]) => {
    return [name, tail.waiting, tail.seconds.toFixed(1), tail.parked, tail.parkedForFollowers]
  })
  const waiting = [
    ...Object.entries(intake ?? {}).map(([name, number]) => [`events of ${name} for the notifier`, number]),
    ...Object.entries(stream?.consumers ?? {}).map(([name, { waiting, underWay }]) => {
      return [`messages of the stream for ${name}`, waiting + underWay]
    }),
    ...(forgettings ? [['removed users with events in the stream', forgettings.waiting]] : []),
    ...Object.entries(deliveries ?? {}).map(([kind, { waiting }]) => [`deliveries, ${kind}`, waiting]),
    ...Object.entries(jobs ?? {}).flatMap(([name, counts]) =>
      Object.entries(counts).map(([state, number]) => [`jobs of ${name}, ${state}`, number]),
    ),
  ]
  return [
    ...(replicas.length > 0 ? table(['SERVICE', 'VERSION', 'HOST', 'CALLS', 'ERRORS'], replicas) : []),
    '',
    ...table(['EVENTS OF', 'WAITING', 'SECONDS', 'PARKED', 'FOLLOWERS PARKED'], published),
    '',
    ...table(['WAITING', 'NUMBER'], waiting),
    ...(stream ? ['', `stream: ${stream.messages} messages, ${stream.first} to ${stream.last}`] : []),
    '',
    ...(attention.length > 0 ? attention.map((line) => `! ${line}`) : ['All is well.']),
  ]
}
