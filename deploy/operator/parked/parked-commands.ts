import type { Sql } from '#lib/eventstore/database'
import { storingServices, type StoringService } from '../../provision.ts'
import type { Called, Command } from '../command.ts'
import { table } from '../output.ts'
import { Refusal } from '../refusal.ts'
import { eachService, readServices } from '../services.ts'
import { findParked, type Parked, readParkedId } from './find-parked.ts'

const idsLine = 'An ID is the first column of `parked list`; --all means every parked event.'
const all: Pick<Command, 'options' | 'optionLines'> = {
  options: { all: { type: 'boolean' } },
  optionLines: ['--all           every parked event'],
}

/** The commands about events that the system went on without. */
export const parkedCommands: Command[] = [
  {
    name: 'parked list',
    takes: '[SERVICE…]',
    summary: 'Lists the events that the stream refused, and those that a follower could not work on.',
    more: ['Exit status 1 where there is one.'],
    arguments: [0, storingServices.length],
    run: list,
  },
  {
    name: 'parked retry',
    takes: 'ID… | --all',
    summary: 'Asks the services to try parked events again.',
    more: [
      idsLine,
      'The service tries within seconds. What is refused once more stays parked, with its new reason.',
      'In the stream, the event comes behind later events of its object.',
    ],
    ...all,
    arguments: [0, 1000],
    mayWrite: true,
    run: retry,
  },
  {
    name: 'parked drop',
    takes: 'ID… | --all',
    summary: 'Forgets parked events: nobody tries them again.',
    more: [idsLine, 'The event itself stays in the database. The stream, or the follower, never gets it.'],
    ...all,
    arguments: [0, 1000],
    mayWrite: true,
    run: drop,
  },
]

async function list({ system, output, args }: Called): Promise<number> {
  const { found, isWhole } = await readAll({ system, output }, readServices(args))
  if (output.isJson) for (const one of found) await output.json(one)
  else if (found.length > 0) {
    const rows = found.map(({ id, type, aggregateId, tries, retry: again, reason }) => {
      return [id, type, aggregateId, again ? `${tries}, again soon` : tries, reason]
    })
    for (const line of table(['ID', 'EVENT', 'OBJECT', 'TRIES', 'REASON'], rows)) output.line(line)
  } else if (isWhole) output.line('No event is parked.')
  if (!isWhole) return 2
  return found.length > 0 ? 1 : 0
}

async function readAll({ system, output }: Pick<Called, 'system' | 'output'>, services: readonly StoringService[]) {
  const found: Parked[] = []
  const isWhole = await eachService(services, output, async (service) => {
    for await (const page of findParked(service, system.sql(service))) found.push(...page)
  })
  return { found, isWhole }
}

type Named = Pick<Parked, 'id' | 'service' | 'position' | 'follower'>

function retry(called: Called): Promise<number> {
  return change(called, (sql, { follower, position }) =>
    follower === undefined
      ? sql`update parked_events set retry = true where position = ${position}`
      : sql`update parked_for_followers set next_try_at = roster_now() where follower = ${follower} and position = ${position}`,
  )
}

function drop(called: Called): Promise<number> {
  return change(
    called,
    (sql, { follower, position }) =>
      follower === undefined
        ? sql`delete from parked_events where position = ${position}`
        : sql`delete from parked_for_followers where follower = ${follower} and position = ${position}`,
    (number) => `${number === 1 ? 'One event' : `${number} events`} will never reach the stream or the follower.`,
  )
}

async function change(
  { system, output, args, options, confirm }: Called,
  work: (sql: Sql, parked: Named) => PromiseLike<{ count: number }>,
  question?: (number: number) => string,
): Promise<number> {
  if (options['all'] === true && args.length > 0)
    throw new Refusal('--all means every parked event, and an ID one of them: name either. Nothing was done.')
  if (options['all'] !== true && args.length === 0) throw new Refusal('Name the ID of a parked event, or --all.')
  const { found, isWhole } =
    options['all'] === true
      ? await readAll({ system, output }, storingServices)
      : { found: args.map(readId), isWhole: true }
  if (question && found.length > 0) await confirm(question(found.length))
  let missing = 0
  const byService = Map.groupBy<StoringService, Named>(found, ({ service }) => service)
  const isChanged = await eachService(byService.keys(), output, async (service) => {
    for (const parked of byService.get(service)!) {
      const done = (await work(system.sql(service), parked)).count > 0
      if (!done) missing++
      if (output.isJson) await output.json({ id: parked.id, done })
      else output.line(`${parked.id}: ${done ? 'done' : 'is not parked'}`)
    }
  })
  if (!isWhole || !isChanged) return 2
  return missing > 0 ? 1 : 0
}

function readId(id: string): Named {
  const read = readParkedId(id)
  if (!read) throw new Refusal(`${id} is no ID of a parked event.`)
  return { id, ...read }
}
