import { storingServices, type StoringService } from '../../provision.ts'
import type { Called, Command } from '../command.ts'
import { Refusal } from '../refusal.ts'
import type { System } from '../system.ts'
import { countParked, findParked, type Parked, readParkedId } from './find-parked.ts'
import { listParked, sayUnread } from './list-parked.ts'

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
    run: listParked,
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

async function retry(called: Called): Promise<number> {
  return change(called, async (system, { service, follower, position }) => {
    const sql = system.sql(service)
    return follower === undefined
      ? sql`update parked_events set retry = true where position = ${position}`
      : sql`
          update parked_for_followers set next_try_at = now() where follower = ${follower} and position = ${position}
        `
  })
}

async function drop(called: Called): Promise<number> {
  return change(
    called,
    async (system, { service, follower, position }) => {
      const sql = system.sql(service)
      return follower === undefined
        ? sql`delete from parked_events where position = ${position}`
        : sql`delete from parked_for_followers where follower = ${follower} and position = ${position}`
    },
    (number) => `${number === 1 ? 'One event' : `${number} events`} will never reach the stream or the follower.`,
  )
}

type Named = Pick<Parked, 'id' | 'service' | 'position' | 'follower'>

async function change(
  { system, output, args, options, confirm }: Called,
  work: (system: System, parked: Named) => Promise<{ count: number }>,
  question?: (number: number) => string,
): Promise<number> {
  let missing = 0
  if (options['all'] !== true) {
    const wanted = args.map(readId)
    if (wanted.length === 0) throw new Refusal('Name the ID of a parked event, or --all.')
    if (question) await confirm(question(wanted.length))
    for (const parked of wanted) await changeOne(parked)
    return missing > 0 ? 1 : 0
  }
  const counts = new Map<StoringService, Awaited<ReturnType<typeof countParked>>>()
  for (const service of storingServices) counts.set(service, await countParked(system.sql(service)))
  const number = [...counts.values()].reduce((sum, { parked }) => sum + parked, 0)
  if (question && number > 0) await confirm(question(number))
  for (const [service, { parked, unread }] of counts) {
    // Not more of them than the question told of.
    let left = parked
    for await (const page of findParked(service, system.sql(service))) {
      for (const one of page.slice(0, left)) await changeOne(one)
      left -= page.length
      if (left <= 0) break
    }
    sayUnread(output, service, unread)
    missing += unread
  }
  return missing > 0 ? 1 : 0

  async function changeOne(parked: Named): Promise<void> {
    const { count } = await work(system, parked)
    if (count === 0) missing++
    if (output.isJson) await output.json({ id: parked.id, done: count > 0 })
    else output.line(`${parked.id}: ${count > 0 ? 'done' : 'is not parked'}`)
  }
}

function readId(id: string): Named {
  const read = readParkedId(id)
  if (!read) throw new Refusal(`${id} is no ID of a parked event.`)
  return { id, ...read }
}
