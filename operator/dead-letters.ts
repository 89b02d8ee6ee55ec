import type { Sql } from '#lib/database/database'
import { storingServices, type StoringService } from '../deploy/provision.ts'
import type { Called, Command } from './command.ts'
import { table } from './output.ts'
import { Refusal } from './refusal.ts'
import { eachService, readServices } from './services.ts'

const idsLine = 'An ID is the first column of `parked list`; --all means every dead letter.'
const named: Pick<Command, 'takes' | 'options' | 'arguments' | 'mayWrite'> = {
  takes: 'ID… | --all',
  options: { all: { does: 'means every dead letter' } },
  arguments: [0, 1000],
  mayWrite: true,
}

/** The commands about dead letters: events that the system went on without. Commands and tables call them parked. */
export const deadLetterCommands: Command[] = [
  {
    name: 'parked list',
    alias: 'dead-letters list',
    takes: '[SERVICE…]',
    summary: 'Lists the events that the stream refused, and those that a follower could not work on.',
    more: ['Exit status 1 where there is one.'],
    arguments: [0, storingServices.length],
    run: list,
  },
  {
    ...named,
    name: 'parked retry',
    alias: 'dead-letters retry',
    summary: 'Asks the services to try dead letters again.',
    more: [
      idsLine,
      'The service tries within seconds. An event that is refused once more stays a dead letter, with its new reason.',
      'In the stream, the event comes behind later events of its object.',
    ],
    run: (called) =>
      change(called, (sql, { follower, position }) =>
        follower === undefined
          ? sql`update parked_events set retry = true where position = ${position}`
          : sql`update parked_for_followers set next_try_at = roster_now() where follower = ${follower} and position = ${position}`,
      ),
  },
  {
    ...named,
    name: 'parked drop',
    alias: 'dead-letters drop',
    summary: 'Drops dead letters: they are never tried again.',
    more: [idsLine, 'The event itself stays in the database. The stream, or the follower, never gets it.'],
    run: (called) =>
      change(
        called,
        (sql, { follower, position }) =>
          follower === undefined
            ? sql`delete from parked_events where position = ${position}`
            : sql`delete from parked_for_followers where follower = ${follower} and position = ${position}`,
        (number) => `${number === 1 ? 'One event' : `${number} events`} will never reach the stream or the follower.`,
      ),
  },
]

/** Names a dead letter. Without a follower, the stream never got it. With one, that follower went on without it. */
interface Named {
  /** `users-17`, or `grants/user-removal/17`. */
  id: string
  service: StoringService
  position: string
  follower?: string | null | undefined
}

interface DeadLetter extends Named {
  /** `user.removed`; empty where the event is one of another service. */
  type: string
  aggregateId: string
  tries: number
  /** An operator asked for another try, which is still to come. */
  retry: boolean
  reason: string
}

async function list({ system, output, args }: Called): Promise<number> {
  const { found, isWhole } = await readAll({ system, output }, readServices(args))
  if (output.isJson) for (const one of found) await output.json(one)
  else if (found.length > 0) {
    const rows = found.map(({ id, type, aggregateId, tries, retry, reason }) => {
      return [id, type, aggregateId, retry ? `${tries}, again soon` : tries, reason]
    })
    for (const line of table(['ID', 'EVENT', 'OBJECT', 'TRIES', 'REASON'], rows)) output.line(line)
  } else if (isWhole) output.line('There are no dead letters.')
  if (!isWhole) return 2
  return found.length > 0 ? 1 : 0
}

async function readAll({ system, output }: Pick<Called, 'system' | 'output'>, services: readonly StoringService[]) {
  const found: DeadLetter[] = []
  const isWhole = await eachService(services, output, async (service) => {
    const reading = system.sql(service)<Omit<DeadLetter, 'id' | 'service'>[]>`
      select null as follower, p.position::text, coalesce(e.aggregate_type || '.' || e.type, '') as type,
        coalesce(e.aggregate_id, '') as "aggregateId", 1 as tries, retry, reason
      from parked_events p left join events e on e.position = p.position
      union all
      select follower, position::text, '', '', tries, next_try_at <= roster_now(), reason from parked_for_followers
    `
    for await (const rows of reading.cursor(1000))
      for (const { follower, ...row } of rows) {
        const id = follower === null ? `${service}-${row.position}` : `${service}/${follower}/${row.position}`
        found.push({ id, service, ...row, ...(follower !== null && { follower }) })
      }
  })
  return { found, isWhole }
}

async function change(
  { system, output, args, options, confirm }: Called,
  work: (sql: Sql, deadLetter: Named) => PromiseLike<{ count: number }>,
  question?: (number: number) => string,
): Promise<number> {
  const isAll = options['all'] === true
  if (isAll && args.length > 0)
    throw new Refusal('--all means every dead letter, and an ID means one of them: name either. Nothing was done.')
  if (!isAll && args.length === 0) throw new Refusal('Name the ID of a dead letter, or --all.')
  const all = isAll ? await readAll({ system, output }, storingServices) : undefined
  const found: Named[] = all ? all.found : args.map(readId)
  if (question && found.length > 0) await confirm(question(found.length))
  let missing = 0
  const byService = Map.groupBy(found, ({ service }) => service)
  const isChanged = await eachService(byService.keys(), output, async (service) => {
    for (const deadLetter of byService.get(service)!) {
      const done = (await work(system.sql(service), deadLetter)).count > 0
      if (!done) missing++
      if (output.isJson) await output.json({ id: deadLetter.id, done })
      else output.line(`${deadLetter.id}: ${done ? 'done' : 'is no dead letter'}`)
    }
  })
  if (all?.isWhole === false || !isChanged) return 2
  return missing > 0 ? 1 : 0
}

function readId(id: string): Named {
  const [, name, follower, position] = /^([a-z]+)(?:\/([^/]+)\/|-)(\d{1,18})$/.exec(id) ?? []
  const service = storingServices.find((known) => known === name)
  if (!service) throw new Refusal(`${id} is no ID of a dead letter.`)
  return { id, service, position: position!, follower }
}
