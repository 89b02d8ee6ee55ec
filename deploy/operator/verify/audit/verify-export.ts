import { hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { canonicalJson } from '#lib/eventstore/audit/canonical-row'
import { isSigned, readCheckpoint, type SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { type PageHeader, readEntries } from '#lib/eventstore/audit/page'
import { sealedAs } from '#lib/eventstore/personal/sealed-text'
import type { StoringService } from '../../../provision.ts'
import type { Called } from '../../command.ts'
import { Refusal } from '../../refusal.ts'
import type { Finding } from '../finding.ts'
import type { TrustedKeys } from './kept.ts'

/** A line of an export with proofs. */
interface Line {
  kind: string
  service: StoringService
  jws?: string
  header?: string
  entries?: string
  position?: string
  proof?: { page: number; key: string; row: string }
  events?: number
  [name: string]: unknown
}

interface KnownPage {
  hash: string
  previous: string
  entries: Map<string, string> | undefined
}

/**
 * Looks whether each event of an export is in the signed history, without any server. What is not in the export cannot
 * be seen, except gaps between the events of an object.
 */
export async function verifyExport(
  { output }: Pick<Called, 'output'>,
  file: string,
  keys: TrustedKeys,
  report: (found: Finding[]) => Promise<void>,
): Promise<void> {
  const pages = new Map<string, KnownPage>()
  const signed = new Map<string, SignedCheckpoint>()
  const used = new Map<string, StoringService>()
  const sequences = new Map<string, { service: StoringService; last: number }>()
  let events = 0
  let end: Line | undefined
  let newest = ''

  for await (const line of linesOf(file)) {
    const { kind, service } = line
    if (kind === 'end') end = line
    if (kind === 'checkpoint') await takeCheckpoint(line)
    if (kind === 'page') takePage(line)
    if (kind !== 'event') continue
    output.progress(`event ${++events}`)
    const row = `event ${service}-${line.position}`
    const found = (problem: string) => report([{ service, row, problem }])
    const problem = problemOf(line, pages)
    if (problem !== undefined) await found(problem)
    else used.set(`${service} ${line.proof!.page}`, service)
    const object = `${String(line['aggregateType'])} ${String(line['aggregateId'])}`
    const before = sequences.get(`${service} ${object}`)?.last ?? 0
    const sequence = Number(line['sequence'])
    if (sequence !== before + 1) await found(`events before it are missing: ${object}, sequence ${before + 1}`)
    sequences.set(`${service} ${object}`, { service, last: sequence })
  }
  if (!end || end.events !== events)
    await report([{ service: 'users', row: 'the export', problem: 'it is not whole: lines are missing' }])
  for (const [name, service] of used)
    if (!isProven(name))
      await report([{ service, row: `page ${name.split(' ')[1]}`, problem: 'no checkpoint signs it' }])
  output.line(`${events} events in the export; the newest checkpoint is of ${newest || 'no time'}`)

  async function takeCheckpoint({ service, jws }: Line): Promise<void> {
    const checkpoint = readOr(() => readCheckpoint(String(jws)))
    const isTrue = checkpoint?.checkpoint.service === service && isSigned(checkpoint, keys(service))
    if (!isTrue) return report([{ service, row: 'a checkpoint', problem: 'its signature is not that of a given key' }])
    signed.set(`${service} ${checkpoint.checkpoint.page}`, checkpoint)
    if (checkpoint.checkpoint.at > newest) newest = checkpoint.checkpoint.at
  }

  function takePage({ service, header = '', entries }: Line): void {
    const told = readOr(() => JSON.parse(header) as PageHeader)
    if (!told || told.service !== service) return
    const bytes = entries === undefined ? undefined : Buffer.from(entries, 'base64')
    const isOwn = bytes && hash('sha256', bytes) === told.entries
    const known = isOwn ? readEntries(bytes) : pages.get(`${service} ${told.page}`)?.entries
    pages.set(`${service} ${told.page}`, { hash: hash('sha256', header), previous: told.previous, entries: known })
  }

  // By the checkpoint of the page, or by that of a later one through the headers between.
  function isProven(name: string): boolean {
    const [service, number] = name.split(' ')
    for (let page = Number(number); ; page++) {
      const known = pages.get(`${service} ${page}`)
      if (!known) return false
      const checkpoint = signed.get(`${service} ${page}`)
      if (checkpoint) return checkpoint.checkpoint.hash === known.hash
      if (pages.get(`${service} ${page + 1}`)?.previous !== known.hash) return false
    }
  }
}

function problemOf(line: Line, pages: Map<string, KnownPage>): string | undefined {
  if (!line.proof) return 'it has no proof'
  const { page, key, row } = line.proof
  const entry = pages.get(`${line.service} ${page}`)?.entries?.get(String(line.position))
  if (entry === undefined) return 'its page does not have it'
  if (entry !== hash('sha256', `${key}.${row}`)) return 'it is not what its page says'
  return isTold(line, readOr(() => JSON.parse(row) as Record<string, unknown>) ?? {})
    ? undefined
    : 'it does not say what is proven'
}

const columns = {
  aggregateType: 'aggregate_type',
  aggregateId: 'aggregate_id',
  organizationId: 'organization_id',
  requestId: 'request_id',
  createdAt: 'created_at',
  creator: 'creator',
  type: 'type',
  position: 'position',
  sequence: 'sequence',
  cause: 'cause',
  traceparent: 'traceparent',
}

// What was sealed is told opened, too: then the payload has more than the row. It is proven as it was sealed.
function isTold(line: Line, row: Record<string, unknown>): boolean {
  const isSame = Object.entries(columns).every(([name, column]) => (line[name] ?? null) === (row[column] ?? null))
  const [told, payload] = [line['payload'] as Record<string, unknown>, row['payload'] as Record<string, unknown>]
  if (!isSame || !told || !payload) return false
  const { [sealedAs]: sealed, ...stored } = payload
  if (sealed !== line['sealed']) return false
  if (sealed === undefined) return canonicalJson(told) === canonicalJson(stored)
  return Object.entries(stored).every(([name, value]) => canonicalJson(told[name]) === canonicalJson(value))
}

async function* linesOf(file: string): AsyncGenerator<Line> {
  const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })
  try {
    for await (const text of lines) if (text.trim()) yield JSON.parse(text) as Line
  } catch (error) {
    throw new Refusal(`${file}: ${(error as Error).message}`)
  }
}

function readOr<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
