import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '#lib/eventstore/database'
import { storingServices, type StoringService } from '../provision.ts'
import type { Called, Command } from './command.ts'
import { readServices } from './services.ts'

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

const lookEvery = 500
/** A service that does nothing for so many milliseconds does not run. */
const patience = 60_000

async function run({ system, output, args, confirm }: Called): Promise<number> {
  const services = readServices(args)
  const before = new Map<StoringService, Place>()
  for (const service of services) before.set(service, await placeOf(system.sql(service)))
  await confirm(`Readers of the stream will get the events of ${services.join(', ')} again.`)
  let unfinished = 0
  for (const [service, { position }] of before)
    if (position !== '0') await system.sql(service)`update published set stream_created = ''`
  for (const [service, place] of before) {
    const sent = place.position === '0' || (await isSent(service, place))
    if (!sent) unfinished++
    if (output.isJson) await output.json({ service, sent })
    else output.line(`${service}: ${sent ? 'all is sent' : 'nothing is sent; does the service run?'}`)
  }
  return unfinished > 0 ? 1 : 0

  async function isSent(service: StoringService, goal: Place): Promise<boolean> {
    let last = ''
    for (let since = Date.now(); Date.now() - since < patience; await sleep(lookEvery)) {
      const now = await placeOf(system.sql(service), goal)
      if (now.generation > goal.generation && now.isThere) return true
      output.progress(`${service}: event ${now.position} of ${goal.position}`)
      if (now.position !== last) since = Date.now()
      last = now.position
    }
    return false
  }
}

interface Place {
  transactionId: string
  position: string
  generation: number
  isThere: boolean
}

async function placeOf(sql: Sql, goal: Pick<Place, 'transactionId' | 'position'> = start): Promise<Place> {
  const [place] = await sql<[Place]>`
    select transaction_id::text as "transactionId", position::text, generation,
      (transaction_id, position) >= (${goal.transactionId}::xid8, ${goal.position}::bigint) as "isThere"
    from published limit 1
  `
  return place
}

const start = { transactionId: '0', position: '0' }
