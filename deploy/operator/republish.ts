import type { Sql } from '#lib/eventstore/database'
import { storingServices, type StoringService } from '../provision.ts'
import { changeTables } from './change-tables.ts'
import type { Called, Command } from './command.ts'
import { isSent, type Place } from './is-sent.ts'
import { readServices } from './services.ts'
import { openTurns } from './turns.ts'

/** The command `republish`. */
export const republish: Command = {
  name: 'republish',
  takes: '[SERVICE…]',
  summary: 'Has the events published to the stream anew, as after its loss.',
  more: [
    'The service sends every event that is young enough for the stream once more, in order, and parked ones with them.',
    'What the stream holds stays. Readers get these events twice; an event keeps its id.',
    'It waits until all is sent. If you end it, the services go on.',
  ],
  arguments: [0, storingServices.length],
  mayWrite: true,
  run,
}

const patience = { lookEvery: 500, silence: 60_000, all: 24 * 60 * 60_000 }

async function run({ system, output, args, confirm }: Called): Promise<number> {
  const services = readServices(args)
  const turns = openTurns(system, output)
  const before = new Map<StoringService, Place>()
  const look = async (service: StoringService) => {
    const place = await turns.at(service, (sql) => placeOf(sql))
    if (place) before.set(service, place)
  }
  await Promise.all(services.map(look))
  turns.tell()
  const readable = services.filter((service) => before.has(service))
  if (readable.length === 0) return turns.end(2)
  await confirm(`Readers of the stream will get the events of ${readable.join(', ')} again.`)
  let unfinished = 0
  await Promise.all(
    readable.map((service) => turns.at(service, (sql) => sendAgain(service, sql, before.get(service)!))),
  )
  return turns.end(unfinished > 0 ? 1 : 0)

  async function sendAgain(service: StoringService, sql: Sql, goal: Place): Promise<void> {
    let sent = goal.position === '0'
    if (!sent) {
      await changeTables(
        sql,
        service,
        ['published'],
        (transaction) => transaction`update only ${transaction(`roster_${service}.published`)} set stream_created = ''`,
      )
      const place = async () => {
        const now = await placeOf(sql, goal)
        output.progress(`${service}: event ${now.position} of ${goal.position}`)
        return now
      }
      sent = await isSent(place, goal, patience)
    }
    if (!sent) unfinished++
    if (output.isJson) await output.json({ service, sent })
    else
      output.line(`${service}: ${sent ? 'all is sent' : 'not all is sent, and no more comes; does the service run?'}`)
  }
}

async function placeOf(sql: Sql, goal: Pick<Place, 'transactionId' | 'position'> = start): Promise<Place> {
  const [place] = await sql<Place[]>`
    select transaction_id::text as "transactionId", position::text, generation,
      (transaction_id, position) >= (${goal.transactionId}::xid8, ${goal.position}::bigint) as "isThere"
    from published limit 1
  `
  if (!place) throw new Error('it is not told how far events are published')
  return place
}

const start = { transactionId: '0', position: '0' }
