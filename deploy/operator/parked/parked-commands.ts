import type { Sql, Transaction } from '#lib/eventstore/database'
import { storingServices, type StoringService } from '../../provision.ts'
import { idCell } from '../cell.ts'
import { changeTables } from '../change-tables.ts'
import type { Called, Command } from '../command.ts'
import { openTurns } from '../turns.ts'
import { Refusal } from '../refusal.ts'
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
  return change(called, (sql, { service, follower, position }) => {
    const [events, left] = tablesOf(sql, service)
    return follower === undefined
      ? sql`update ${events} set retry = true where position = ${position}`
      : sql`update ${left} set next_try_at = now() where follower = ${follower} and position = ${position}`
  })
}

async function drop(called: Called): Promise<number> {
  return change(
    called,
    (sql, { service, follower, position }) => {
      const [events, left] = tablesOf(sql, service)
      return follower === undefined
        ? sql`delete from ${events} where position = ${position}`
        : sql`delete from ${left} where follower = ${follower} and position = ${position}`
    },
    (number) => `${number === 1 ? 'One event' : `${number} events`} will never reach the stream or the follower.`,
  )
}

const changed = ['parked_events', 'parked_for_followers'] as const

function tablesOf(sql: Transaction, service: StoringService) {
  return [sql(`roster_${service}.parked_events`), sql(`roster_${service}.parked_for_followers`)] as const
}

type Named = Pick<Parked, 'id' | 'service' | 'position' | 'follower'>

async function change(
  { system, output, args, options, confirm }: Called,
  work: (transaction: Transaction, parked: Named) => PromiseLike<{ count: number }>,
  question?: (number: number) => string,
): Promise<number> {
  if (options['all'] === true && args.length > 0)
    throw new Refusal('--all means every parked event, and an ID one of them: name either. Nothing was done.')
  let missing = 0
  const turns = openTurns(system, output)
  if (options['all'] !== true) {
    const wanted = args.map(readId)
    if (wanted.length === 0) throw new Refusal('Name the ID of a parked event, or --all.')
    if (question) await confirm(question(wanted.length))
    for (const [service, some] of Map.groupBy(wanted, (parked) => parked.service))
      await turns.at(service, (sql) => changeSome(sql, service, some))
    return turns.end(missing > 0 ? 1 : 0)
  }
  const counts = new Map<StoringService, Awaited<ReturnType<typeof countParked>>>()
  for (const service of storingServices) {
    const count = await turns.at(service, countParked)
    if (count) counts.set(service, count)
  }
  turns.tell()
  const number = [...counts.values()].reduce((sum, { parked }) => sum + parked, 0)
  if (question && number > 0) await confirm(question(number))
  // Side by side: a service that holds its own up, or has very many, holds up no other.
  const changing = [...counts].map(async ([service, { parked, unread }]) => {
    await turns.at(service, async (sql) => {
      // Not more of them than the question told of.
      let left = parked
      for await (const page of findParked(service, sql)) {
        await changeSome(sql, service, page.slice(0, left))
        left -= page.length
        if (left <= 0) break
      }
    })
    sayUnread(output, service, unread)
    missing += unread
  })
  await Promise.all(changing)
  return turns.end(missing > 0 ? 1 : 0)

  async function changeSome(sql: Sql, service: StoringService, some: Named[]): Promise<void> {
    const counted = await changeTables(sql, service, changed, async (transaction) => {
      const counts: number[] = []
      for (const parked of some) counts.push((await work(transaction, parked)).count)
      return counts
    })
    for (const [index, { id }] of some.entries()) {
      const done = counted[index]! > 0
      if (!done) missing++
      if (output.isJson) await output.json({ id, done })
      else output.line(`${idCell(id)}: ${done ? 'done' : 'is not parked'}`)
    }
  }
}

function readId(id: string): Named {
  const read = readParkedId(id)
  if (!read) throw new Refusal(`${id} is no ID of a parked event.`)
  return { id, ...read }
}
