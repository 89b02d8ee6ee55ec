import { type CheckpointRow, checkpointsAfter, readAuditKeys } from '#lib/eventstore/audit/chain-rows'
import type { AuditKey, SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { storingServices, type StoringService } from '../provision.ts'
import type { Called, Command } from './command.ts'
import { Refusal } from './refusal.ts'
import { eachService, readServices } from './services.ts'
import type { System } from './system.ts'
import { checkCheckpoints, checkpointName } from './verify/audit/check-checkpoints.ts'
import { type Kept, readKept } from './verify/audit/kept.ts'
import { readLastNumber } from './verify/audit/read-pages.ts'
import type { Finding } from './verify/finding.ts'

/** The command `checkpoints`. */
export const checkpoints: Command = {
  name: 'checkpoints',
  takes: '[SERVICE…]',
  summary: 'Writes the signed checkpoints of the audit chains as JSON, a value on each line, to be kept elsewhere.',
  more: [
    'Keep them where nobody who can change the database can change them. `verify --audit --checkpoints` compares.',
    'A line of the kind `key` has a public key. There is no secret in them, and nothing of a person.',
    'It writes nothing of a service whose checkpoints do not fit, and says why: exit status 1.',
  ],
  options: { after: { type: 'string' }, 'accept-epoch': { type: 'string' } },
  optionLines: [
    '--after FILE        writes those alone that come after kept ones, and only if they go on from them',
    '--accept-epoch N    with --after: the chain may have begun anew, up to this epoch',
  ],
  arguments: [0, storingServices.length],
  run,
}

const pageSize = 500

/** What may be written of a service, and what hinders that. */
interface Read {
  keys: AuditKey[]
  rows: CheckpointRow[]
  found: Finding[]
  /** Times that do not fit. Those hinder nothing: otherwise a single wrong clock would end the keeping for ever. */
  odd: Finding[]
}

async function run({ system, output, args, options }: Called): Promise<number> {
  const kept = typeof options['after'] === 'string' ? readKept(options['after']) : undefined
  const accepted = readEpoch(options['accept-epoch'])
  let isRight = true
  const isWhole = await eachService(readServices(args), output, async (service) => {
    // Nothing is written of a service before all of it was looked at.
    const { keys, rows, found, odd } = await readService(system, service, kept, accepted)
    for (const { row, problem } of [...odd, ...found]) output.trouble(`${service}: ${row}: ${problem}`)
    if (odd.length + found.length > 0) isRight = false
    if (found.length > 0) return output.trouble(`Nothing was written of ${service}.`)
    for (const key of keys) await output.json({ kind: 'key', service, key })
    for (const { number, jws } of rows) await output.json({ kind: 'checkpoint', service, number, jws })
  })
  if (!isWhole) return 2
  return isRight ? 0 : 1
}

function readEpoch(option: unknown): number {
  if (option === undefined) return 1
  if (typeof option !== 'string' || !/^[1-9]\d{0,8}$/.test(option)) throw new Refusal('--accept-epoch takes a number.')
  return Number(option)
}

async function readService(
  system: System,
  service: StoringService,
  kept: Kept | undefined,
  accepted: number,
): Promise<Read> {
  const sql = system.sql(service)
  const found = (kept?.found ?? []).filter((finding) => finding.service === service)
  const odd: Finding[] = []
  const say = (number: number, problem: string) => void found.push({ service, row: checkpointName(number), problem })
  const before = newestOf(kept, service)
  // First the last one: those that come meanwhile may be of keys that come meanwhile.
  const upTo = await readLastNumber(sql)
  const keys = await readAuditKeys(sql)
  const checking = checkCheckpoints(service, [...(kept?.keys.get(service) ?? []), ...keys], undefined, before)
  const first = before?.checkpoint.number ?? 0
  const [same] = before ? await checkpointsAfter(sql, first - 1, 1) : []
  if (before && same?.jws !== before.jws) say(first, 'it is not the one that was kept')
  let epoch = Math.max(before?.checkpoint.epoch ?? 1, accepted)
  const rows: CheckpointRow[] = []
  for (let after = first; after < upTo; after = rows.at(-1)!.number) {
    const page = (await checkpointsAfter(sql, after, pageSize)).filter(({ number }) => number <= upTo)
    if (page.length === 0) break
    rows.push(...page)
  }
  for (const { number, jws } of rows) {
    const checked = checking.next(number, jws)
    const { service: named, number: told, epoch: of = 0 } = checked.signed?.checkpoint ?? {}
    // Without those that were kept, it is not known what must follow.
    if (kept) odd.push(...checked.odd)
    if (kept || !checked.signed) found.push(...checked.found)
    else if (named !== service || told !== number) say(number, 'it stands in the place of another one')
    if (kept && of > epoch) say(number, `the chain began anew: if you know why, call it with --accept-epoch ${of}`)
    epoch = Math.max(epoch, of)
  }
  // Anybody who can write to the database can add a key, and whoever verifies an export trusts each one.
  const own = new Set(kept?.keys.get(service)?.map(({ kid }) => kid))
  return { keys: keys.filter(({ kid }) => !before || own.has(kid) || checking.counts(kid)), rows, found, odd }
}

function newestOf(kept: Kept | undefined, service: StoringService): SignedCheckpoint | undefined {
  const all = kept?.checkpoints.get(service)
  return all?.get([...all.keys()].reduce((most, number) => Math.max(most, number), 0))
}
