import { type AuditKey, isSigned, type SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { checkpointsAfter, readAuditKeys } from '#lib/eventstore/audit/chain-rows'
import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../../provision.ts'
import type { Called } from '../../command.ts'
import { Refusal } from '../../refusal.ts'
import type { Finding } from '../finding.ts'
import { checkChain, type Witness } from './check-chain.ts'
import { checkCheckpoints, checkpointName } from './check-checkpoints.ts'
import { type Kept, readKept, readKeys } from './kept.ts'
import { readEnd } from './read-pages.ts'

const pageSize = 500

/** Walks the chains of the services, and tells what contradicts them. */
export async function verifyAudit(
  { system, output, options }: Pick<Called, 'system' | 'output' | 'options'>,
  services: readonly StoringService[],
  report: (found: Finding[]) => Promise<void>,
): Promise<void> {
  const kept = typeof options['checkpoints'] === 'string' ? readKept(options['checkpoints']) : undefined
  const trusted = typeof options['keys'] === 'string' ? readKeys(options['keys']) : undefined
  for (const service of services) {
    const sql = system.sql(service)
    // First how far the chain goes: pages that come meanwhile are looked at the next time.
    const end = await readEnd(sql)
    const { found, witnesses, last } = await readWitnesses(sql, service, end.epoch, kept, trusted)
    await report(found)
    if (end.held) {
      await report([{ service, row: 'audit_chain', problem: 'it is held: stored events are being changed' }])
      continue
    }
    for await (const { found: more, events } of checkChain(sql, service, end, witnesses)) {
      output.progress(`${service}: event ${events} of ${end.events}`)
      await report(more)
    }
    if ((await readEnd(sql)).epoch !== end.epoch)
      throw new Refusal(`The chain of ${service} began anew. Call it again.`)
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

/** Reads the checkpoints of the database and those that were kept. Gives those of the epoch by their page. */
async function readWitnesses(
  sql: Sql,
  service: StoringService,
  epoch: number,
  kept: Kept | undefined,
  trusted: AuditKey[] | undefined,
) {
  const found: Finding[] = []
  const witnesses = new Map<number, Witness[]>()
  const known = await readAuditKeys(sql)
  const checking = checkCheckpoints(service, known, trusted)
  const waiting = new Map(kept?.checkpoints.get(service))
  let last: SignedCheckpoint | undefined

  const add = (signed: SignedCheckpoint, isKept: boolean) => {
    const { page, epoch: of } = signed.checkpoint
    if (of === epoch) witnesses.set(page, [...(witnesses.get(page) ?? []), { signed, isKept }])
  }

  for (let after = 0; ;) {
    const rows = await checkpointsAfter(sql, after, pageSize)
    if (rows.length === 0) break
    for (const { number, jws } of rows) {
      const { signed, found: wrong } = checking.next(number, jws)
      found.push(...wrong)
      const own = waiting.get(number)
      if (own && own.jws !== jws)
        found.push({ service, row: checkpointName(number), problem: 'it is not the one that was kept' })
      if (own?.jws === jws) waiting.delete(number)
      if (!signed) continue
      add(signed, own?.jws === jws)
      last = signed
    }
    after = rows.at(-1)!.number
  }
  const keys = [...(trusted ?? [...(kept?.keys ?? []), ...known])]
  for (const [number, signed] of waiting) {
    if (!isSigned(signed, keys))
      found.push({ service, row: `kept checkpoint number=${number}`, problem: 'its signature is not that of a known key' }) // prettier-ignore
    else add(signed, true)
    if (number > (last?.checkpoint.number ?? 0))
      found.push({ service, row: checkpointName(number), problem: 'it is missing, and was kept elsewhere' })
  }
  const newest = [...(kept?.checkpoints.get(service)?.values() ?? [])].reduce((most, { checkpoint }) => Math.max(most, checkpoint.epoch), 0) // prettier-ignore
  if (newest > 0 && newest < epoch)
    found.push({ service, row: 'audit_chain', problem: `it began anew (epoch ${epoch}), and no kept checkpoint knows of that` }) // prettier-ignore
  return { found, witnesses, last }
}
