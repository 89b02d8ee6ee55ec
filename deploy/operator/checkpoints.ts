import { hash } from 'node:crypto'
import { type CheckpointRow, checkpointsAfter, readAuditKeys } from '#lib/eventstore/audit/chain-rows'
import type { AuditKey, SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { storingServices, type StoringService } from '../provision.ts'
import type { Called, Command } from './command.ts'
import type { Output } from './output.ts'
import { Refusal } from './refusal.ts'
import { readServices } from './services.ts'
import type { System } from './system.ts'
import { checkCheckpoints, checkpointName } from './verify/audit/check-checkpoints.ts'
import { isOfService, problemOf } from './verify/is-of-service.ts'
import { type Kept, readKept } from './verify/audit/kept.ts'
import { readLastNumber, strangeNumbers } from './verify/audit/read-pages.ts'
import { eachService } from './verify/each-service.ts'
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
/** Findings of a service. More of them change nothing: nothing is written of it. */
const mostFindings = 1000

/** What may be written of a service, and what hinders that. */
interface Read {
  keys: AuditKey[]
  portions: Portion[]
  found: Finding[]
  /** Times that do not fit. Those hinder nothing: otherwise a single wrong clock would end the keeping for ever. */
  odd: Finding[]
}

/** Checkpoints that were looked at, without their texts: there may be any number of them. */
interface Portion {
  after: number
  count: number
  hash: string
}

async function run({ system, output, args, options }: Called): Promise<number> {
  const kept = typeof options['after'] === 'string' ? readKept(options['after']) : undefined
  const accepted = readEpoch(options['accept-epoch'])
  let isWhole = true
  const refuse = async (found: Finding[]) => {
    if (found.length === 0) return
    isWhole = false
    for (const { service, row, problem } of found) output.trouble(`${service}: ${row}: ${problem}`)
  }
  await eachService(
    readServices(args),
    'audit_checkpoints',
    async (service, alive) => {
      output.progress(service)
      // Nothing is written of a service before all of it was looked at.
      const read = await readService(system, service, { kept, accepted, alive })
      await refuse(read.odd)
      if (read.found.length === 0) return refuse(await writeService(system, service, read, { output, alive }))
      await refuse(read.found)
      output.trouble(`Nothing was written of ${service}.`)
    },
    refuse,
  )
  output.clear()
  return isWhole ? 0 : 1
}

function readEpoch(option: unknown): number {
  if (option === undefined) return 1
  if (typeof option !== 'string' || !/^[1-9]\d{0,8}$/.test(option)) throw new Refusal('--accept-epoch takes a number.')
  return Number(option)
}

async function readService(
  system: System,
  service: StoringService,
  { kept, accepted, alive }: { kept: Kept | undefined; accepted: number; alive: () => void },
): Promise<Read> {
  const sql = system.sql(service)
  const read: Read = {
    keys: [],
    portions: [],
    found: (kept?.found ?? []).filter((finding) => finding.service === service),
    odd: [],
  }
  const say = (row: string, problem: string) => void read.found.push({ service, row, problem })
  const before = newestOf(kept, service)
  try {
    if ((await strangeNumbers(sql)).includes('audit_checkpoints')) say('audit_checkpoints', 'a number in it cannot be')
    // First the last one: those that come meanwhile may be of keys that come meanwhile.
    const upTo = await readLastNumber(sql)
    const keys = await readAuditKeys(sql)
    const known = [...(kept?.keys.get(service) ?? []), ...keys]
    const checking = checkCheckpoints(service, known, undefined, before)
    const first = before?.checkpoint.number ?? 0
    const [same] = before ? await checkpointsAfter(sql, first - 1, 1) : []
    if (before && same?.jws !== before.jws) say(checkpointName(first), 'it is not the one that was kept')
    let epoch = Math.max(before?.checkpoint.epoch ?? 1, accepted)
    for (let after = first; after < upTo;) {
      const rows = (await checkpointsAfter(sql, after, pageSize)).filter(({ number }) => number <= upTo)
      alive()
      if (rows.length === 0) break
      for (const { number, jws } of rows) {
        const { signed, found, odd } = checking.next(number, jws)
        const { service: named, number: told, epoch: of = 0 } = signed?.checkpoint ?? {}
        // Without those that were kept, it is not known what must follow.
        if (kept) read.odd.push(...odd)
        if (kept || !signed) read.found.push(...found)
        else if (named !== service || told !== number)
          say(checkpointName(number), 'it stands in the place of another one')
        if (kept && of > epoch)
          say(checkpointName(number), `the chain began anew: if you know why, call it with --accept-epoch ${of}`)
        epoch = Math.max(epoch, of)
      }
      if (read.found.length + read.odd.length > mostFindings) {
        say('audit_checkpoints', 'more of them do not fit')
        return read
      }
      read.portions.push({ after, count: rows.length, hash: hashOf(rows) })
      after = rows.at(-1)!.number
    }
    // Anybody who can write to the database can add a key, and whoever verifies an export trusts each one.
    const own = new Set(kept?.keys.get(service)?.map(({ kid }) => kid))
    read.keys = keys.filter(({ kid }) => !before || own.has(kid) || checking.counts(kid))
  } catch (error) {
    if (!isOfService(error)) throw error
    say('audit_checkpoints', problemOf(error, 'they cannot be read to their end'))
  }
  return read
}

// Each portion is read once more, and must be the same.
async function writeService(
  system: System,
  service: StoringService,
  { keys, portions }: Read,
  { output, alive }: { output: Output; alive: () => void },
): Promise<Finding[]> {
  for (const key of keys) await output.json({ kind: 'key', service, key })
  for (const { after, count, hash: looked } of portions) {
    const rows = await checkpointsAfter(system.sql(service), after, count)
    alive()
    if (hashOf(rows) !== looked)
      return [{ service, row: checkpointName(after + 1), problem: 'it changed meanwhile, so nothing more was written' }]
    for (const { number, jws } of rows) await output.json({ kind: 'checkpoint', service, number, jws })
    output.progress(`${service}: checkpoint ${rows.at(-1)!.number}`)
  }
  return []
}

function hashOf(rows: readonly CheckpointRow[]): string {
  return hash('sha256', JSON.stringify(rows.map(({ number, jws }) => [number, jws])))
}

function newestOf(kept: Kept | undefined, service: StoringService): SignedCheckpoint | undefined {
  const all = kept?.checkpoints.get(service)
  return all?.get([...all.keys()].reduce((most, number) => Math.max(most, number), 0))
}
