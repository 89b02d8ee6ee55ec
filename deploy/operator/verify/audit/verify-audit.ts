import type { SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import type { StoringService } from '../../../provision.ts'
import type { Called } from '../../command.ts'
import type { Finding } from '../finding.ts'
import { checkChain } from './check-chain.ts'
import { type Kept, readKept, readKeys, type TrustedKeys } from './kept.ts'
import { isOfService } from './is-of-service.ts'
import { hasUnchained, readEnd, strangeNumbers, strangeTables } from './read-pages.ts'
import { readWitnesses } from './read-witnesses.ts'

/** Walks the chains of the services, and tells what contradicts them. */
export async function verifyAudit(
  { system, output, options }: Pick<Called, 'system' | 'output' | 'options'>,
  services: readonly StoringService[],
  report: (found: Finding[]) => Promise<void>,
): Promise<void> {
  const kept = typeof options['checkpoints'] === 'string' ? readKept(options['checkpoints']) : undefined
  const trusted = typeof options['keys'] === 'string' ? readKeys(options['keys']) : undefined
  for (const service of services)
    try {
      await verifyService(service, kept, trusted)
    } catch (error) {
      // Whoever holds one service must not hinder that the others are looked at.
      if (!isOfService(error)) throw error
      await report([{ service, row: 'audit_chain', problem: 'it cannot be read to its end' }])
    }

  async function verifyService(service: StoringService, known: Kept | undefined, keys: TrustedKeys | undefined) {
    const sql = system.sql(service)
    const hiding = await strangeTables(sql)
    await report(hiding.map((row) => ({ service, row, problem: 'it is no plain table, and may hide rows' })))
    const strange = await strangeNumbers(sql)
    await report(strange.map((row) => ({ service, row, problem: 'a number in it cannot be' })))
    if (strange.includes('audit_chain')) return
    // First how far the chain goes: pages that come meanwhile are looked at the next time.
    const end = await readEnd(sql)
    const { found, witnesses, former, last } = await readWitnesses(sql, service, end.epoch, known, keys)
    await report(found)
    if (end.held)
      return report([{ service, row: 'audit_chain', problem: 'it is held: stored events are being changed' }])
    if (await hasUnchained(sql))
      await report([{ service, row: 'audit_chain', problem: 'events that are older than five minutes are not in it' }])
    for await (const { found: more, events } of checkChain(sql, service, end, { witnesses, former })) {
      output.progress(`${service}: event ${events} of ${end.events}`)
      await report(more)
    }
    if ((await readEnd(sql)).epoch !== end.epoch)
      return report([{ service, row: 'audit_chain', problem: 'it began anew meanwhile: call it again' }])
    output.line(tell(service, end, last))
  }
}

function tell(service: string, end: Awaited<ReturnType<typeof readEnd>>, last: SignedCheckpoint | undefined): string {
  const signed = last
    ? `signed up to event ${last.checkpoint.events} at ${last.checkpoint.at}`
    : 'nothing is signed yet'
  const epoch = end.epoch === 1 ? '' : `, epoch ${end.epoch} (${end.reason})`
  return `${service}: ${end.events} events in the chain${epoch}; ${signed}`
}
