import { type Checkpoint, isSigned, type SignedCheckpoint } from '#lib/audit-log/checkpoint'
import { checkpointsAfter, readAuditKeys } from '#lib/audit-log/chain-rows'
import type { Sql } from '#lib/database/database'
import type { StoringService } from '../../../deploy/provision.ts'
import { type Finding, rowName } from '../finding.ts'
import { checkCheckpoints } from './check-checkpoints.ts'
import type { Kept, TrustedKeys } from './kept.ts'

/** A checkpoint that testifies to the chain as it is. */
export interface Witness extends Pick<Checkpoint, 'number' | 'hash'> {
  /** Whether it was kept elsewhere. */
  isKept: boolean
}

/** What is read: up to a number of a checkpoint, as witnesses of an epoch. */
interface Asked {
  service: StoringService
  epoch: number
  upTo: number
  kept: Kept | undefined
  trusted: TrustedKeys | undefined
}

const atOnce = 500

/**
 * Reads the checkpoints of the database and those that were kept, and reports what does not fit. Returns those of the
 * epoch by their page, and the last one.
 */
export async function readWitnesses(
  sql: Sql,
  { service, epoch, upTo, kept, trusted }: Asked,
  report: (found: Finding[]) => Promise<void>,
): Promise<{ witnesses: Map<number, Witness[]>; last: Checkpoint | undefined }> {
  const found: Finding[] = (kept?.found ?? []).filter((finding) => finding.service === service)
  const say = (row: string, problem: string) => void found.push({ service, row, problem })
  const known = await readAuditKeys(sql)
  const checking = checkCheckpoints(service, { keys: known, trusted: trusted?.(service) })
  const own = [...(kept?.checkpoints.get(service) ?? [])].sort(([one], [other]) => one - other)
  const waiting = new Map(own)
  const witnesses = new Map<number, Witness[]>()
  let ahead: string | undefined
  let last: Checkpoint | undefined

  for (let after = 0; after < upTo;) {
    const rows = (await checkpointsAfter(sql, after, atOnce)).filter(({ number }) => number <= upTo)
    if (rows.length === 0) break
    for (const { number, jws } of rows) {
      const { signed, isTrue, problems, odd } = checking.next(number, jws)
      const same = waiting.get(number)
      const isKept = same?.jws === jws
      for (const problem of [...problems, ...odd]) say(checkpointName(number), problem)
      if (same && !isKept) say(checkpointName(number), 'it is not the one that was kept')
      if (isKept) waiting.delete(number)
      if (signed && (isTrue || isKept)) add(signed, isKept)
      last = signed?.checkpoint ?? last
    }
    after = rows.at(-1)!.number
    await report(found.splice(0))
  }
  const keys = trusted?.(service) ?? [...(kept?.keys.get(service) ?? []), ...known]
  for (const [number, signed] of waiting) {
    if (isSigned(signed, keys)) add(signed, true)
    else say(keptName(number), 'its signature is not that of a known key')
    if (number > (last?.number ?? 0)) say(checkpointName(number), 'it is missing, and was kept elsewhere')
  }
  const newest = own.at(-1)?.[1].checkpoint.epoch ?? epoch
  if (newest < epoch) say('audit_chain', `it started epoch ${epoch}, which no kept checkpoint knows`)
  if (ahead !== undefined) say('audit_chain', `its epoch (${epoch}) is lower than that of ${ahead}`)
  await report(found)
  return { witnesses, last }

  function add({ checkpoint }: SignedCheckpoint, isKept: boolean): void {
    const { number, page, epoch: of, hash } = checkpoint
    const witness = { number, hash, isKept }
    if (of === epoch) witnesses.set(page, [...(witnesses.get(page) ?? []), witness])
    if (of > epoch) ahead = `${witnessName(witness)} (epoch ${of})`
  }
}

/** The name of a checkpoint in findings. */
export const checkpointName = (number: number) => rowName('audit_checkpoints', { number })
const keptName = (number: number) => `kept checkpoint number=${number}`

/** The name of a witness in findings. */
export function witnessName({ number, isKept }: Witness): string {
  return isKept ? keptName(number) : checkpointName(number)
}
