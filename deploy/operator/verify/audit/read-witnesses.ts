import { type Checkpoint, isSigned, type SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { checkpointsAfter, readAuditKeys } from '#lib/eventstore/audit/chain-rows'
import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../../provision.ts'
import type { Finding } from '../finding.ts'
import { checkCheckpoints, checkpointName } from './check-checkpoints.ts'
import type { Kept, TrustedKeys } from './kept.ts'

/** What a checkpoint says, and whether it was kept elsewhere. */
export interface Witness extends Pick<Checkpoint, 'number' | 'epoch' | 'page' | 'hash'> {
  isKept: boolean
}

/** Checkpoints that testify to the chain as it is. */
export interface Witnesses {
  /** Those of the epoch, by their page. */
  witnesses: Map<number, Witness[]>
  /** The one of earlier epochs that has the highest page. */
  former: Witness | undefined
}

const pageSize = 500

/** What is read: up to a number of a checkpoint, as witnesses of an epoch. */
interface Asked {
  service: StoringService
  epoch: number
  upTo: number
}

/** Reads the checkpoints of the database and those that were kept, and reports what does not fit. */
export async function readWitnesses(
  sql: Sql,
  { service, epoch, upTo }: Asked,
  kept: Kept | undefined,
  trusted: TrustedKeys | undefined,
  report: (found: Finding[]) => Promise<void>,
): Promise<Witnesses & { last: SignedCheckpoint | undefined; pauses: number[] }> {
  const found: Finding[] = (kept?.found ?? []).filter((finding) => finding.service === service)
  const witnesses = new Map<number, Witness[]>()
  const known = await readAuditKeys(sql)
  const checking = checkCheckpoints(service, known, trusted?.(service))
  const ofService = new Map([...(kept?.checkpoints.get(service) ?? [])].sort(([one], [other]) => one - other))
  const waiting = new Map(ofService)
  let former: Witness | undefined
  let ahead: Witness | undefined
  let last: SignedCheckpoint | undefined
  /** Seconds between the last ones: there may have been no events between others. */
  const pauses: number[] = []

  for (let after = 0; after < upTo;) {
    const rows = await checkpointsAfter(sql, after, pageSize)
    if (rows.length === 0) break
    for (const { number, jws } of rows) {
      if (number > upTo) break
      const { signed, isTrue, found: wrong, odd } = checking.next(number, jws)
      found.push(...wrong, ...odd)
      const own = waiting.get(number)
      if (own && own.jws !== jws)
        found.push({ service, row: checkpointName(number), problem: 'it is not the one that was kept' })
      if (own?.jws === jws) waiting.delete(number)
      if (!signed) continue
      if (isTrue || own?.jws === jws) add(signed, own?.jws === jws)
      if (last) pauses.push((Date.parse(signed.checkpoint.at) - Date.parse(last.checkpoint.at)) / 1000)
      last = signed
    }
    pauses.splice(0, pauses.length - 3)
    after = rows.at(-1)!.number
    await report(found.splice(0))
  }
  const keys = trusted?.(service) ?? [...(kept?.keys.get(service) ?? []), ...known]
  for (const [number, signed] of waiting) {
    if (!isSigned(signed, keys))
      found.push({ service, row: keptName(number), problem: 'its signature is not that of a known key' })
    else add(signed, true)
    if (number > (last?.checkpoint.number ?? 0))
      found.push({ service, row: checkpointName(number), problem: 'it is missing, and was kept elsewhere' })
  }
  checkEpochs()
  await report(found)
  return { witnesses, former, last, pauses }

  function add({ checkpoint }: SignedCheckpoint, isKept: boolean): void {
    const { number, page, epoch: of, hash } = checkpoint
    const witness = { number, epoch: of, page, hash, isKept }
    if (of === epoch) witnesses.set(page, [...(witnesses.get(page) ?? []), witness])
    else if (of > epoch) ahead = witness
    else if (page >= (former?.page ?? 0)) former = witness
  }

  function checkEpochs(): void {
    const newest = [...ofService.values()].at(-1)?.checkpoint.epoch ?? epoch
    if (newest < epoch)
      found.push({ service, row: 'audit_chain', problem: `it began anew (epoch ${epoch}), and no kept checkpoint knows of that` }) // prettier-ignore
    if (ahead)
      found.push({ service, row: 'audit_chain', problem: `its epoch (${epoch}) is lower than that of ${witnessName(ahead)} (epoch ${ahead.epoch})` }) // prettier-ignore
  }
}

/** The name of a witness in findings. */
export function witnessName({ number, isKept }: Witness): string {
  return isKept ? keptName(number) : checkpointName(number)
}

function keptName(number: number): string {
  return `kept checkpoint number=${number}`
}
