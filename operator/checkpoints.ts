import { type CheckpointRow, checkpointsAfter, lastCheckpoint, readAuditKeys } from '#lib/audit-log/chain-rows'
import type { AuditKey, SignedCheckpoint } from '#lib/audit-log/checkpoint'
import type { Sql } from '#lib/database/database'
import { storingServices, type StoringService } from '../deploy/provision.ts'
import type { Called, Command } from './command.ts'
import { Refusal } from './refusal.ts'
import { eachService, readServices } from './services.ts'
import { checkCheckpoints } from './verify/audit/check-checkpoints.ts'
import { type Kept, readKept } from './verify/audit/kept.ts'
import { checkpointName } from './verify/audit/read-witnesses.ts'

export const checkpoints: Command = {
  name: 'checkpoints',
  takes: '[SERVICE…]',
  summary: 'Writes the signed checkpoints of the audit chains as JSON lines, to be kept elsewhere.',
  more: [
    'Keep them where no one who can change the database can change them too. `verify --audit --checkpoints` compares.',
    'A line of the kind `key` has a public key. There is no secret in them, and nothing of a person.',
    'It writes nothing of a service whose checkpoints do not fit, and says why: exit status 1.',
  ],
  options: {
    after: { takes: 'FILE', does: 'writes those alone that come after kept ones, and only if they go on from them' },
    'accept-epoch': {
      takes: 'N',
      does: 'with --after: accepts new epochs of the chain, up to this one',
      goesWith: ['after'],
    },
  },
  arguments: [0, storingServices.length],
  run,
}

/** What may be written of a service, and lines about what hinders that. */
interface Read {
  keys: AuditKey[]
  rows: CheckpointRow[]
  problems: string[]
  /** Times that do not fit. Those hinder nothing: otherwise a single wrong clock would end the keeping for ever. */
  odd: string[]
}

async function run({ system, output, args, options }: Called): Promise<number> {
  const kept = typeof options['after'] === 'string' ? readKept(options['after']) : undefined
  const accepted = readEpoch(options['accept-epoch'])
  let isRight = true
  const isWhole = await eachService(readServices(args), output, async (service) => {
    // Nothing is written of a service before all of it was looked at.
    const { keys, rows, problems, odd } = await readService(system.sql(service), service, kept, accepted)
    for (const problem of [...odd, ...problems]) output.trouble(`${service}: ${problem}`)
    if (odd.length + problems.length > 0) isRight = false
    if (problems.length > 0) return output.trouble(`Nothing was written of ${service}.`)
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

async function readService(sql: Sql, service: StoringService, kept: Kept | undefined, accepted: number): Promise<Read> {
  const before = newestOf(kept, service)
  const first = before?.checkpoint.number ?? 0
  const own = kept?.keys.get(service) ?? []
  // First the last one: those that come meanwhile may be of keys that come meanwhile.
  const upTo = (await lastCheckpoint(sql))?.number ?? 0
  const keys = await readAuditKeys(sql)
  const checking = checkCheckpoints(service, { keys: [...own, ...keys], after: before })
  const found = (kept?.found ?? []).filter((finding) => finding.service === service)
  const problems = found.map(({ row, problem }) => `${row}: ${problem}`)
  const odd: string[] = []
  const [same] = before ? await checkpointsAfter(sql, first - 1, 1) : []
  if (before && same?.jws !== before.jws) problems.push(`${checkpointName(first)}: it is not the one that was kept`)

  let epoch = Math.max(before?.checkpoint.epoch ?? 1, accepted)
  const rows = await readRows(sql, first, upTo)
  for (const { number, jws } of rows) {
    const name = (problem: string) => `${checkpointName(number)}: ${problem}`
    const checked = checking.next(number, jws)
    const { epoch: of = 0, number: claimed, service: named } = checked.signed?.checkpoint ?? {}
    // Without those that were kept, it is not known what must follow.
    if (kept || !checked.signed) problems.push(...checked.problems.map(name))
    else if (named !== service || claimed !== number) problems.push(name('it stands in the place of another one'))
    if (kept) odd.push(...checked.odd.map(name))
    if (kept && of > epoch)
      problems.push(name(`the audit chain started a new epoch. If you know why, add --accept-epoch ${of}`))
    epoch = Math.max(epoch, of)
  }
  // Everyone who can write to the database can add a key, and the reader of an export trusts each one.
  const mayWrite = ({ kid }: AuditKey) => !before || own.some((one) => one.kid === kid) || checking.counts(kid)
  return { keys: keys.filter(mayWrite), rows, problems, odd }
}

function newestOf(kept: Kept | undefined, service: StoringService): SignedCheckpoint | undefined {
  const all = [...(kept?.checkpoints.get(service)?.values() ?? [])]
  return all.sort((one, other) => other.checkpoint.number - one.checkpoint.number)[0]
}

async function readRows(sql: Sql, first: number, upTo: number): Promise<CheckpointRow[]> {
  const rows: CheckpointRow[] = []
  for (let after = first; after < upTo; after = rows.at(-1)!.number) {
    const page = (await checkpointsAfter(sql, after, 500)).filter(({ number }) => number <= upTo)
    if (page.length === 0) break
    rows.push(...page)
  }
  return rows
}
