import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainPlace } from '#lib/audit-log/page'
import type { Sql } from '#lib/database/database'
import { storingServices } from '../deploy/provision.ts'
import type { Called, Command } from './command.ts'
import { eachService, readServices } from './services.ts'

export const republish: Command = {
  name: 'republish',
  takes: '[SERVICE…]',
  summary: 'Publishes the events to the stream again, as after its loss.',
  more: [
    'The service sends every event that is young enough for the stream once more, in order, dead letters with them.',
    'What the stream holds stays. Readers get these events twice; an event keeps its id.',
    'It waits until all is sent. The services go on if you end it.',
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
  await confirm(`Readers of the stream will get the events of ${services.join(', ')} again.`)
  let unfinished = 0
  const isDone = await eachService(services, output, async (service) => {
    const sent = await sendAgain(system.sql(service), (text) => output.progress(`${service}: ${text}`))
    if (!sent) unfinished++
    if (output.isJson) await output.json({ service, sent })
    else
      output.line(`${service}: ${sent ? 'all is sent' : 'not all is sent, and no more comes; does the service run?'}`)
  })
  if (!isDone) return 2
  return unfinished > 0 ? 1 : 0
}

/** How far the events of a service are published, and how often they were published anew. */
interface Place extends ChainPlace {
  generation: number
  /** It is at the goal, or past it. */
  isThere: boolean
}

// Waits until the outbox has republished everything up to where it stood. False once it makes no more progress.
async function sendAgain(sql: Sql, report: (progress: string) => void): Promise<boolean> {
  const look = async (goal: ChainPlace) => {
    const [place] = await sql<[Place]>`
      select transaction_id::text as "transactionId", position::text, generation,
        (transaction_id, position) >= (${goal.transactionId}::xid8, ${goal.position}::bigint) as "isThere"
      from published
    `
    return place
  }
  const goal = await look({ transactionId: '0', position: '0' })
  if (goal.position === '0') return true
  await sql`update published set stream_created = ''`
  let last = ''
  for (let since = Date.now(); Date.now() - since < patience; await sleep(lookEvery)) {
    const { generation, isThere, transactionId, position } = await look(goal)
    report(`event ${position} of ${goal.position}`)
    if (generation > goal.generation && isThere) return true
    const text = `${generation} ${transactionId} ${position}`
    if (text !== last) since = Date.now()
    last = text
  }
  return false
}
