import { hash } from 'node:crypto'
import { storingServices, type StoringService } from '../../../../provision.ts'
import type { Called } from '../../../command.ts'
import { linesOf } from '../../../read-files.ts'
import type { FileFinding } from '../../finding.ts'
import type { TrustedKeys } from '../kept.ts'
import { isTold } from './is-told.ts'
import { type EventLine, type Line, readLine, readRow } from './read-line.ts'
import { SignedPages } from './signed-pages.ts'

/** Characters of a line. What a line tells of an event is far shorter. */
const longestLine = 32 * 1024 * 1024

/** An event that was told, until all pages are known. */
interface ToldEvent {
  position: string
  page: number
  /** The hash that its page must have. */
  hash: string
  /** Whether the line says what its proof says. */
  isTold: boolean
}

/**
 * Looks whether each event of an export is in the signed history, without any server. What is not in the export cannot
 * be seen, except gaps between the events of an object. No line replaces an earlier one, and none is judged before all
 * are read.
 */
export async function verifyExport(
  { output }: Pick<Called, 'output'>,
  file: string,
  keys: TrustedKeys,
  report: (found: FileFinding[]) => Promise<void>,
): Promise<void> {
  const found: FileFinding[] = []
  const say = (service: StoringService, row: string, problem: string) => void found.push({ service, row, problem })
  // Such a line belongs to no service.
  const sayOfFile = (row: string, problem: string) => void found.push({ row, problem })
  const reported = () => report(found.splice(0))
  const services = new Map(storingServices.map((service) => [service, toldBy(service)]))
  const counted = { lines: 0, events: 0, objects: 0, omitted: 0 }
  let organization: string | undefined
  let end: Extract<Line, { kind: 'end' }> | undefined

  for (const text of linesOf(file, longestLine)) {
    counted.lines++
    const row = `line ${counted.lines}`
    const line = text === undefined ? undefined : readLine(text)
    if (end) sayOfFile(row, 'it stands behind the end')
    if (!line) sayOfFile(row, `no export has such a ${text === undefined ? 'long ' : ''}line`)
    else if ((line.kind === 'export') !== (counted.lines === 1)) sayOfFile(row, 'it does not stand in its place')
    else if (line.kind === 'export') organization = line.organization
    else if (line.kind === 'end') end = line
    else take(line)
    output.progress(`event ${counted.events}`)
    await reported()
  }
  const isWhole = (['events', 'objects', 'omitted'] as const).every((name) => (end?.[name] ?? 0) === counted[name])
  if (!end || !isWhole) sayOfFile('the export', 'it is not whole: lines are missing')
  let newest = ''
  for (const { pages, events } of services.values()) {
    const at = pages.judge() ?? ''
    if (at > newest) newest = at
    judge(pages, events)
    await reported()
  }
  output.line(`${counted.events} events in the export; the newest checkpoint is of ${newest || 'no time'}`)
  if (counted.objects > 0)
    output.line(`Nothing proves its ${counted.objects} objects, but the events that lead to them.`)

  function toldBy(service: StoringService) {
    return {
      pages: new SignedPages(service, keys, (row, problem) => say(service, row, problem)),
      events: new Map<string, ToldEvent>(),
      /** The last sequence of each object. */
      sequences: new Map<string, number>(),
    }
  }

  function take(line: Exclude<Line, { kind: 'export' | 'end' }>): void {
    const { pages } = services.get(line.service)!
    if (line.kind === 'page') return pages.takePage(line.header)
    if (line.kind === 'entries') return pages.takeEntries(line.page, line.entries)
    if (line.kind === 'checkpoint') return pages.takeCheckpoint(line.jws)
    if (line.kind === 'omitted') return takeOmitted(line)
    if (line.organizationId !== organization)
      say(line.service, `line ${counted.lines}`, 'it is of another organization than the export')
    if (line.kind === 'event') takeEvent(line)
    else counted.objects++
  }

  function takeOmitted({ service, table, position, bytes }: Extract<Line, { kind: 'omitted' }>): void {
    counted.omitted++
    const row = position === undefined ? `line ${counted.lines}` : `event ${service}-${position}`
    say(service, row, `it was left out: a row of ${table} has ${bytes} bytes, more than any of Roster`)
  }

  function takeEvent(line: EventLine): void {
    const { service, position, proof, aggregateType, aggregateId } = line
    const { events, sequences } = services.get(service)!
    counted.events++
    const name = `event ${service}-${position}`
    if (events.has(position)) return say(service, name, 'it is told twice')
    const object = JSON.stringify([aggregateType, aggregateId])
    const expected = (sequences.get(object) ?? 0) + 1
    if (line.sequence !== String(expected))
      say(service, name, `events before it are missing: ${aggregateType} ${aggregateId}, sequence ${expected}`)
    sequences.set(object, Number(line.sequence))
    if (!proof) return say(service, name, 'it has no proof')
    const row = readRow(proof.row)
    if (!row) return say(service, name, 'its proof is none of a row')
    const proven = hash('sha256', `${proof.key}.${proof.row}`)
    events.set(position, { position, page: proof.page, hash: proven, isTold: isTold(line, row) })
  }

  function judge(pages: SignedPages, events: Map<string, ToldEvent>): void {
    const service = [...services].find(([, told]) => told.pages === pages)![0]
    for (const [page, some] of Map.groupBy(events.values(), (event) => event.page)) {
      const entries = pages.entriesOf(page)
      for (const event of some) {
        const entry = entries?.get(event.position)
        const name = `event ${service}-${event.position}`
        if (entry === undefined) say(service, name, 'its page does not have it')
        else if (entry !== event.hash) say(service, name, 'it is not what its page says')
        else if (!event.isTold) say(service, name, 'it does not say what is proven')
      }
    }
  }
}
