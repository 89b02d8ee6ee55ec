import type { StreamConfig } from 'nats'
import { streamName } from '#lib/events/stream'
import { storingServices, type StoringService } from '../../provision.ts'
import type { Called, Command } from '../command.ts'
import { models } from '../models.ts'
import { Refusal } from '../refusal.ts'
import { readServices } from '../services.ts'
import type { System } from '../system.ts'
import { readKeys } from './audit/kept.ts'
import { verifyExport } from './audit/export/verify-export.ts'
import { verifyAudit } from './audit/verify-audit.ts'
import { checkAggregates } from './check-aggregates.ts'
import { checkEvents, type Expected } from './check-events.ts'
import { checkStream } from './check-stream.ts'
import { checkSource } from './check-source.ts'
import { checkSurplus } from './check-surplus.ts'
import { eachService } from './each-service.ts'
import type { FileFinding } from './finding.ts'
import { limitFindings, mostFindings } from './limit-findings.ts'
import { judgeMissing } from './missing.ts'
import { Positions } from './positions.ts'
import { type Published, readPublished } from './published.ts'

/** The command `verify`. */
export const verify: Command = {
  name: 'verify',
  takes: '[SERVICE…]',
  summary: 'Makes every object anew from its events, and names each stored row that differs.',
  more: [
    'It compares aggregates, the tables of searches, unique keys, events, and the messages of the stream.',
    'It only reads, a short transaction at a time, so it may run at any time. Exit status 1 where something differs.',
  ],
  options: {
    'without-stream': { type: 'boolean' },
    audit: { type: 'boolean' },
    checkpoints: { type: 'string' },
    keys: { type: 'string' },
    export: { type: 'string' },
  },
  optionLines: [
    '--without-stream    looks at the database alone',
    '--audit             walks the audit chain instead: names each event that was altered, removed or inserted',
    '--checkpoints FILE  compares with checkpoints that were kept elsewhere: a file, or a folder of files',
    '--keys FILE         trusts these public keys alone: kept ones, or the answer of /.well-known/audit-keys',
    '--export FILE       with --audit and --keys: looks at an export with proofs instead. It needs no server',
  ],
  arguments: [0, storingServices.length],
  isOffline: ({ export: file }) => file !== undefined,
  run,
}

async function run({ system, output, args, options }: Called): Promise<number> {
  const services = readServices(args)
  const show = async (finding: FileFinding) => {
    if (output.isJson) await output.json(finding)
    else output.line([finding.service ?? [], finding.row, finding.problem].flat().join(': '))
  }
  // The walk of a chain ends by itself after as many.
  const isWalk = options['audit'] === true && options['export'] === undefined
  const { report, end } = limitFindings(show, isWalk ? Infinity : mostFindings)
  const ended = async () => {
    const number = await end()
    output.line(number === 0 ? 'Nothing differs.' : `${number} rows differ.`)
    return number > 0 ? 1 : 0
  }
  if (options['audit'] === true) {
    const { export: file, keys } = options
    if (file === undefined) await verifyAudit({ system, output, options }, services, report)
    else if (typeof keys !== 'string') throw new Refusal('--export goes with --keys.')
    else if (options['checkpoints'] !== undefined) throw new Refusal('--export does not go with --checkpoints.')
    else await verifyExport({ output }, String(file), readKeys(keys), report)
    return ended()
  }
  if ([options['checkpoints'], options['keys'], options['export']].some((option) => option !== undefined))
    throw new Refusal('--checkpoints, --keys and --export go with --audit.')
  // Code of a service might run where its tables are read, so they are looked at first.
  const withStream = options['without-stream'] !== true
  const readable = new Set<StoringService>()
  const reportAsked = (found: FileFinding[]) =>
    report(found.filter(({ service }) => service === undefined || services.includes(service)))
  const look = async (service: StoringService, alive: () => void) => {
    const { found, isReadable } = await checkSource(system.sql(service), service, alive)
    await reportAsked(found)
    if (isReadable) readable.add(service)
  }
  await eachService(withStream ? storingServices : services, 'events', look, reportAsked)
  const expectedOf = withStream ? await readStream(system) : () => undefined
  const asked = services.filter((service) => readable.has(service))
  await eachService(asked, 'events', (service, alive) => verifyService(service, expectedOf(service), alive), report)
  return ended()

  async function verifyService(service: StoringService, expected: Expected | undefined, alive: () => void) {
    const [sql, model] = [system.sql(service), models[service]]
    const personal = await system.personal(service)
    const [{ all }] = await sql<[{ all: number }]>`select count(*)::int as all from aggregates`
    for await (const { found, looked } of checkAggregates(sql, service, model, personal)) {
      alive()
      output.progress(`${service}: ${looked} of ${all} objects`)
      await report(found)
    }
    for await (const { found, table } of checkSurplus(sql, service, model, personal)) {
      alive()
      output.progress(`${service}: ${table}`)
      await report(found)
    }
    const missing = judgeMissing(sql, service, expected?.published)
    for await (const { found, looked, of } of checkEvents(sql, service, model, personal, expected)) {
      alive()
      output.progress(`${service}: event ${looked} of ${of}`)
      await report(await missing.page(found))
    }
    await report(missing.end())
  }

  async function readStream(from: System) {
    const until = new Date(Date.now() - margin * 60_000)
    // First how far each tail is: by then the stream had all of that.
    const published = new Map<StoringService, Published>()
    await eachService(
      services.filter((service) => readable.has(service)),
      'published',
      async (service) => void published.set(service, await readPublished(from.sql(service))),
      report,
    )
    const seen = Object.fromEntries(storingServices.map((service) => [service, new Positions()])) as Record<
      StoringService,
      Positions
    >
    const { config } = await (await from.jetstream()).streams.info(streamName)
    let isWhole = true
    for await (const page of checkStream(from, seen, readable)) {
      isWhole &&= page.isWhole
      output.progress(`stream: ${page.looked} of ${page.of} messages`)
      await reportAsked(page.found)
    }
    // What was not read may be what an event lacks.
    if (!isWhole) return () => undefined
    const since = oldest(config)
    return (service: StoringService): Expected | undefined => {
      const known = published.get(service)
      return since && known && { published: known, inStream: seen[service], since, until }
    }
  }
}

/** Minutes for which a message is on its way into the stream, or out of it. */
const margin = 10

// Events since then are in the stream. Undefined where the stream may drop any, for lack of room.
function oldest(config: StreamConfig): Date | undefined {
  if ([config.max_msgs, config.max_bytes, config.max_msgs_per_subject].some((limit) => limit > 0)) return undefined
  if (config.max_age === 0) return new Date(0)
  return new Date(Date.now() - config.max_age / 1e6 + margin * 60_000)
}
