import type { StreamConfig } from 'nats'
import type { ChainPlace } from '#lib/audit-log/page'
import type { Sql } from '#lib/database/database'
import { streamName } from '#lib/events/stream'
import { storingServices, type StoringService } from '../../deploy/provision.ts'
import type { Called, Command } from '../command.ts'
import { models } from '../models.ts'
import { eachService, readServices } from '../services.ts'
import { readKeys } from './audit/kept.ts'
import { verifyExport } from './audit/export/verify-export.ts'
import { verifyAudit } from './audit/verify-audit.ts'
import { checkAggregates } from './check-aggregates.ts'
import { checkEvents } from './check-events.ts'
import { checkSchema } from './check-schema.ts'
import { checkStream, type InStream } from './check-stream.ts'
import { checkSurplus } from './check-surplus.ts'
import type { FileFinding } from './finding.ts'
import { Positions } from './positions.ts'

export const verify: Command = {
  name: 'verify',
  takes: '[SERVICE…]',
  summary: 'Rebuilds every object from its events, and names each stored row that differs.',
  more: [
    'It compares aggregates, the tables of searches, unique keys, events, and the messages of the stream.',
    'It only reads, a short transaction at a time, so it may run at any time. Exit status 1 where something differs.',
  ],
  options: {
    'without-stream': { does: 'looks at the database alone', notWith: ['audit'] },
    audit: { does: 'walks the audit chain instead: names each event that was altered, removed or inserted' },
    checkpoints: {
      takes: 'FILE',
      does: 'compares with checkpoints that were kept elsewhere: a file, or a folder of files',
      goesWith: ['audit'],
      notWith: ['export'],
    },
    keys: {
      takes: 'FILE',
      does: 'trusts these public keys alone: kept ones, or the answer of /.well-known/audit-keys',
      goesWith: ['audit'],
    },
    export: {
      takes: 'FILE',
      does: 'with --audit and --keys: looks at an export with proofs instead. It needs no server',
      goesWith: ['audit', 'keys'],
    },
  },
  arguments: [0, storingServices.length],
  isOffline: ({ export: file }) => file !== undefined,
  // It makes temporary tables.
  needsPrimary: ({ audit }) => audit !== true,
  needsNats: ({ audit, 'without-stream': isAlone }) => audit !== true && isAlone !== true,
  run,
}

async function run({ system, output, args, options }: Called): Promise<number> {
  const services = readServices(args)
  let number = 0
  const report = async (found: FileFinding[]) => {
    for (const finding of found) {
      number++
      if (output.isJson) await output.json(finding)
      else output.line([finding.service ?? [], finding.row, finding.problem].flat().join(': '))
    }
  }
  const isWhole =
    options['audit'] === true
      ? await verifyHistory({ system, output, options }, services, report)
      : await verifyStored({ system, output, options }, services, report)
  output.line(number === 0 && isWhole ? 'Nothing differs.' : `${number} rows differ.`)
  if (!isWhole) return 2
  return number > 0 ? 1 : 0
}

type Report = (found: FileFinding[]) => Promise<void>

async function verifyHistory(
  called: Pick<Called, 'system' | 'output' | 'options'>,
  services: readonly StoringService[],
  report: Report,
): Promise<boolean> {
  const { export: file, keys } = called.options
  if (file === undefined) return verifyAudit(called, services, report)
  await verifyExport(called, String(file), readKeys(String(keys)), report)
  return true
}

async function verifyStored(
  { system, output, options }: Pick<Called, 'system' | 'output' | 'options'>,
  services: readonly StoringService[],
  report: Report,
): Promise<boolean> {
  // First how far each outbox is: by then the stream had all of that.
  const published = new Map<StoringService, ChainPlace>()
  const isReadable = await eachService(services, output, async (service) => {
    await report(await checkSchema(system.sql(service), service))
    published.set(service, await readPublished(system.sql(service)))
  })
  const readable = [...published.keys()]
  const inStream = Object.fromEntries(readable.map((service) => [service, new Positions()])) as InStream
  const since = options['without-stream'] === true ? undefined : await readStream()
  const isWhole = await eachService(readable, output, async (service) => {
    const [sql, model] = [system.sql(service), models[service]]
    const personal = await system.personal(service)
    const [{ all }] = await sql<[{ all: number }]>`select count(*)::int as all from aggregates`
    for await (const { found, looked } of checkAggregates(sql, service, model, personal)) {
      output.progress(`${service}: ${looked} of ${all} objects`)
      await report(found)
    }
    for await (const { found, table } of checkSurplus(sql, service, model, personal)) {
      output.progress(`${service}: ${table}`)
      await report(found)
    }
    const expected = since && { since, published: published.get(service)!, inStream: inStream[service] }
    for await (const { found, looked, of } of checkEvents(sql, service, model, personal, expected)) {
      output.progress(`${service}: event ${looked} of ${of}`)
      await report(found)
    }
  })
  return isReadable && isWhole

  // Returns since when each published event must be in the stream.
  async function readStream(): Promise<Date | undefined> {
    const { config } = await (await system.jetstream()).streams.info(streamName)
    for await (const { found, looked, of } of checkStream(system, readable, inStream)) {
      output.progress(`stream: ${looked} of ${of} messages`)
      await report(found)
    }
    return oldest(config)
  }
}

async function readPublished(sql: Sql): Promise<ChainPlace> {
  const [place] = await sql<ChainPlace[]>`select transaction_id::text as "transactionId", position::text from published`
  if (!place) throw new Error('the place up to which events are published is missing')
  return place
}

/** Minutes for which a message is on its way out of the stream. */
const margin = 10

// Events since then are in the stream. Undefined where the stream may drop any, for lack of room.
function oldest(config: StreamConfig): Date | undefined {
  if ([config.max_msgs, config.max_bytes, config.max_msgs_per_subject].some((limit) => limit > 0)) return undefined
  if (config.max_age === 0) return new Date(0)
  return new Date(Date.now() - config.max_age / 1e6 + margin * 60_000)
}
