import type { SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../../provision.ts'
import type { Called } from '../../command.ts'
import { eachService } from '../each-service.ts'
import type { Finding } from '../finding.ts'
import { checkShape } from '../shape/check-shape.ts'
import { checkChain } from './check-chain.ts'
import { type Kept, readKept, readKeys, type TrustedKeys } from './kept.ts'
import { countInTable, hasOlder, hasUnchained, readEnd, strangeNumbers, tooLarge } from './read-pages.ts'
import { readWitnesses } from './read-witnesses.ts'

/** Walks the chains of the services, and tells what contradicts them. */
export async function verifyAudit(
  { system, output, options }: Pick<Called, 'system' | 'output' | 'options'>,
  services: readonly StoringService[],
  report: (found: Finding[]) => Promise<void>,
): Promise<void> {
  const kept = typeof options['checkpoints'] === 'string' ? readKept(options['checkpoints']) : undefined
  const trusted = typeof options['keys'] === 'string' ? readKeys(options['keys']) : undefined
  await eachService(services, 'audit_chain', (service) => verifyService(service, kept, trusted), report)

  async function verifyService(service: StoringService, known: Kept | undefined, keys: TrustedKeys | undefined) {
    const sql = system.sql(service)
    const shape = await checkShape(sql, service)
    await report(shape.found)
    // Code of the service might run where they are read.
    if (!shape.isReadable)
      return output.line(`${service}: its tables are not those of this version, so no event was read`)
    const large = await tooLarge(sql)
    await report(large.map((row) => ({ service, row, problem: 'a value in it is larger than any of Roster' })))
    const strange = await strangeNumbers(sql)
    await report(strange.map((row) => ({ service, row, problem: 'a number in it cannot be' })))
    if (strange.includes('audit_chain')) return
    // First how far the chain goes: pages that come meanwhile are looked at the next time.
    const end = await readEnd(sql)
    const { found, witnesses, former, last, gap } = await readWitnesses(sql, service, end.epoch, known, keys)
    await report(found)
    if (end.held)
      return report([{ service, row: 'audit_chain', problem: 'it is held: stored events are being changed' }])
    const unchained = await hasUnchained(sql)
    if (unchained)
      await report([{ service, row: 'audit_chain', problem: 'events that are older than five minutes are not in it' }])
    if (await isUnsigned(sql, end, last, gap))
      await report([{ service, row: 'audit_checkpoints', problem: 'events of the chain have waited too long for a checkpoint' }]) // prettier-ignore
    const walk = checkChain(sql, service, end, { witnesses, former })
    let step = await walk.next()
    for (; !step.done; step = await walk.next()) {
      output.progress(`${service}: event ${step.value.events} of ${end.events}`)
      await report(step.value.found)
    }
    const counted = await countInTable(sql, service, end)
    if ((await readEnd(sql)).epoch !== end.epoch)
      return report([{ service, row: 'audit_chain', problem: 'it began anew meanwhile: call it again' }])
    // Rows that an index passes over are found by no walk along it.
    if (!Number.isNaN(step.value) && counted.chained !== step.value)
      await report([{ service, row: 'events', problem: `the table has ${counted.chained} events up to the end of the chain, and its index events_in_commit_order ${step.value}` }]) // prettier-ignore
    if (counted.unchained > 0 && !unchained)
      await report([{ service, row: 'events', problem: 'the table has events that are not in the chain, nor in its index events_in_commit_order' }]) // prettier-ignore
    await report((await checkShape(sql, service)).found.filter((one) => !shape.found.some(({ problem }) => problem === one.problem))) // prettier-ignore
    output.line(tell(service, end, last))
  }
}

/** No CHECKPOINT_INTERVAL is longer, and an hour of patience. */
const longestWait = 25 * 3600
/** Seconds that a checkpoint may be late. */
const patience = 600

// The command does not know CHECKPOINT_INTERVAL. The last checkpoints tell how often the service signs.
async function isUnsigned(
  sql: Sql,
  end: Awaited<ReturnType<typeof readEnd>>,
  last: SignedCheckpoint | undefined,
  gap: number,
): Promise<boolean> {
  // The first one is signed at once.
  const wait = !last ? patience : gap > 0 ? Math.min((3 * gap) / 1000 + patience, longestWait) : longestWait
  // Older events may have come into the chain only now, after an upgrade.
  if (last && Date.now() - Date.parse(last.checkpoint.at) < wait * 1000) return false
  const signed = last?.checkpoint.epoch === end.epoch ? last.checkpoint.last : { transactionId: '0', position: '0' }
  return hasOlder(sql, signed, end, wait)
}

function tell(service: string, end: Awaited<ReturnType<typeof readEnd>>, last: SignedCheckpoint | undefined): string {
  const signed = last
    ? `signed up to event ${last.checkpoint.events} at ${last.checkpoint.at}`
    : 'nothing is signed yet'
  const epoch = end.epoch === 1 ? '' : `, epoch ${end.epoch} (${end.reason})`
  return `${service}: ${end.events} events in the chain${epoch}; ${signed}`
}
