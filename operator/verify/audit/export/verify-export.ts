import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { encryptedAs } from '#lib/encryption/encrypted-text'
import { personalFields } from '#lib/events/marked-fields'
import { storingServices, type StoringService } from '../../../../deploy/provision.ts'
import type { Called } from '../../../command.ts'
import { linesOf } from '../../../read-files.ts'
import type { FileFinding } from '../../finding.ts'
import type { TrustedKeys } from '../kept.ts'
import { SignedPages } from './signed-pages.ts'

/** A line of an export with proofs. */
type Line =
  | { kind: 'export'; organization: string }
  | { kind: 'page'; service: StoringService; header: string }
  | { kind: 'entries'; service: StoringService; entries: string }
  | { kind: 'checkpoint'; service: StoringService; jws: string }
  | EventLine
  | { kind: 'object'; service: StoringService; organizationId: string }
  | { kind: 'end'; events: number; objects: number }

/** An event as the export has it. */
interface EventLine {
  kind: 'event'
  service: StoringService
  aggregateType: string
  aggregateId: string
  organizationId: string
  position: string
  sequence: string
  payload: Record<string, unknown>
  /** What is encrypted of it, as it is stored. */
  sealed?: string
  forgotten?: boolean
  proof?: { page: number; key: string; row: string }
  [name: string]: unknown
}

/** An event that was read, until all pages are known. */
interface StatedEvent {
  service: StoringService
  position: string
  page: number
  /** The hash that its page must have. */
  hash: string
  /** Whether the line says what its proof says. */
  isStated: boolean
}

/**
 * Looks whether each event of an export is in the signed history, without any server. What is not in the export cannot
 * be seen, except gaps between the events of an object.
 */
export async function verifyExport(
  { output }: Pick<Called, 'output'>,
  file: string,
  keys: TrustedKeys,
  report: (found: FileFinding[]) => Promise<void>,
): Promise<void> {
  const found: FileFinding[] = []
  const say = (service: StoringService, row: string, problem: string) => void found.push({ service, row, problem })
  const services = new Map(
    storingServices.map((service) => [
      service,
      new SignedPages(service, keys(service), (...problem) => say(service, ...problem)),
    ]),
  )
  const events: StatedEvent[] = []
  /** The last sequence of each object. */
  const sequences = new Map<string, number>()
  const counted = { lines: 0, events: 0, objects: 0 }
  let organization: string | undefined
  let end: Extract<Line, { kind: 'end' }> | undefined

  for await (const text of linesOf(file)) {
    counted.lines++
    try {
      take(JSON.parse(text) as Line, `line ${counted.lines}`)
    } catch (error) {
      // Such a line belongs to no service.
      found.push({ row: `line ${counted.lines}`, problem: `no export has such a line: ${(error as Error).message}` })
    }
    output.progress(`event ${counted.events}`)
    await report(found.splice(0))
  }
  if (end?.events !== counted.events || end.objects !== counted.objects)
    found.push({ row: 'the export', problem: 'it is not whole: lines are missing' })
  judgeEvents()
  await report(found)
  const newest = [...services.values()].map((pages) => pages.newest).reduce((one, other) => (one > other ? one : other))
  output.line(`${counted.events} events in the export; the newest checkpoint is of ${newest || 'no time'}`)
  if (counted.objects > 0)
    output.line(`Nothing proves its ${counted.objects} objects, but the events that lead to them.`)

  function take(line: Line, row: string): void {
    // Only the last line may be the end.
    end = line.kind === 'end' ? line : undefined
    if (line.kind === 'end') return
    if ((line.kind === 'export') !== (counted.lines === 1)) throw new Error('it does not stand in its place')
    if (line.kind === 'export') return void (organization = line.organization)
    const pages = services.get(line.service)
    if (!pages) throw new Error('its service is unknown')
    if (line.kind === 'page') return pages.takePage(line.header)
    if (line.kind === 'entries') return pages.takeEntries(line.entries)
    if (line.kind === 'checkpoint') return pages.takeCheckpoint(line.jws)
    if (line.kind !== 'event' && line.kind !== 'object') throw new Error('its kind is unknown')
    if (line.organizationId !== organization) say(line.service, row, 'it is of another organization than the export')
    if (line.kind === 'event') takeEvent(line)
    else counted.objects++
  }

  function takeEvent(line: EventLine): void {
    const { service, position, sequence, proof, aggregateType, aggregateId } = line
    counted.events++
    const name = `event ${service}-${position}`
    const object = JSON.stringify([service, aggregateType, aggregateId])
    const expected = (sequences.get(object) ?? 0) + 1
    if (sequence !== String(expected))
      say(service, name, `events before it are missing: ${aggregateType} ${aggregateId}, sequence ${expected}`)
    sequences.set(object, Number(sequence))
    if (!proof) return say(service, name, 'it has no proof')
    // A key of another length could move the border between the key and the row, which are hashed together.
    if (!/^[0-9a-f]{64}$/.test(proof.key)) throw new Error('the key of its proof is none')
    const proven = hash('sha256', `${proof.key}.${proof.row}`)
    events.push({ service, position, page: proof.page, hash: proven, isStated: isStated(line, proof.row) })
  }

  function judgeEvents(): void {
    const proven = new Map([...services].map(([service, pages]) => [service, pages.judge()]))
    for (const { service, position, page, hash: own, isStated: isSame } of events) {
      const name = `event ${service}-${position}`
      const entry = proven.get(service)!.get(page)?.get(position)
      if (entry === undefined) say(service, name, 'no signed page has it')
      else if (entry !== own) say(service, name, 'it is not what its page says')
      else if (!isSame) say(service, name, 'it does not say what is proven')
    }
  }
}

/** Members of an event's line that are no columns of its row. */
const others = new Set(['kind', 'service', 'payload', 'sealed', 'forgotten', 'proof'])

/**
 * Whether the export has an event as its proven row has it. It also has in plain what was encrypted, so the payload may
 * have more than the row: the personal fields of such an event, and no others.
 */
function isStated(line: EventLine, row: string): boolean {
  const { payload: stored, transaction_id: _, ...columns } = JSON.parse(row) as Record<string, unknown>
  const shown = Object.entries(line).filter(([name, value]) => !others.has(name) && value !== null)
  const proven = Object.entries(columns).map(([name, value]) => [memberOf(name), value] as const)
  if (!isDeepStrictEqual(Object.fromEntries(shown), Object.fromEntries(proven))) return false

  const { [encryptedAs]: sealed, ...open } = stored as Record<string, unknown>
  if (sealed !== line.sealed || (line.forgotten !== undefined && sealed === undefined)) return false
  const personal = sealed === undefined ? [] : personalFields(line.aggregateType, String(line['type']))
  // What could not be decrypted stands there encrypted.
  const mayBeAdded = (name: string, value: unknown) =>
    personal.includes(name) || (sealed !== undefined && name === encryptedAs && value === sealed)
  const payload = Object.entries(line.payload).filter(
    ([name, value]) => Object.hasOwn(open, name) || !mayBeAdded(name, value),
  )
  return isDeepStrictEqual(Object.fromEntries(payload), open)
}

// The member for a column: `aggregateId` of `aggregate_id`.
const memberOf = (column: string) => column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
