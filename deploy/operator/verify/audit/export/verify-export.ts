import { hash } from 'node:crypto'
import { storingServices, type StoringService } from '../../../../provision.ts'
import type { Called } from '../../../command.ts'
import { linesOf } from '../../../read-files.ts'
import type { FileFinding } from '../../finding.ts'
import type { TrustedKeys } from '../kept.ts'
import { isTold } from './is-told.ts'
import { type EventLine, type Line, readLine } from './read-line.ts'
import { SignedPages } from './signed-pages.ts'

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
  const services = new Map(
    storingServices.map((service) => [
      service,
      {
        pages: new SignedPages(service, keys, (row, problem) => say(service, row, problem)),
        events: new Map<string, ToldEvent>(),
        /** The last sequence of each object. */
        sequences: new Map<string, number>(),
      },
    ]),
  )
  const counted = { lines: 0, events: 0, objects: 0 }
  let organization: string | undefined
  let end: Extract<Line, { kind: 'end' }> | undefined

  for await (const text of linesOf(file)) {
    counted.lines++
    takeLine(text, `line ${counted.lines}`)
    output.progress(`event ${counted.events}`)
    await report(found.splice(0))
  }
  if (end?.events !== counted.events || end.objects !== counted.objects)
    sayOfFile('the export', 'it is not whole: lines are missing')
  let newest = ''
  for (const [service, { pages, events }] of services) {
    const at = pages.judge() ?? ''
    if (at > newest) newest = at
    judgeEvents(service, pages, events)
  }
  await report(found)
  output.line(`${counted.events} events in the export; the newest checkpoint is of ${newest || 'no time'}`)
  if (counted.objects > 0)
    output.line(`Nothing proves its ${counted.objects} objects, but the events that lead to them.`)

  function takeLine(text: string, row: string): void {
    if (end) sayOfFile(row, 'it stands behind the end')
    try {
      const line = readLine(text)
      if ((line.kind === 'export') !== (counted.lines === 1)) sayOfFile(row, 'it does not stand in its place')
      else if (line.kind === 'export') organization = line.organization
      else if (line.kind === 'end') end = line
      else take(line, row)
    } catch (error) {
      sayOfFile(row, `no export has such a line: ${(error as Error).message}`)
    }
  }

  function take(line: Exclude<Line, { kind: 'export' | 'end' }>, row: string): void {
    const { pages } = services.get(line.service)!
    if (line.kind === 'page') return pages.takePage(line.header)
    if (line.kind === 'entries') return pages.takeEntries(line.page, line.entries)
    if (line.kind === 'checkpoint') return pages.takeCheckpoint(line.jws)
    if (line.organizationId !== organization) say(line.service, row, 'it is of another organization than the export')
    if (line.kind === 'event') takeEvent(line)
    else counted.objects++
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
    const proven = hash('sha256', `${proof.key}.${proof.row}`)
    events.set(position, { position, page: proof.page, hash: proven, isTold: isTold(line, proof.row) })
  }

  function judgeEvents(service: StoringService, pages: SignedPages, events: Map<string, ToldEvent>): void {
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
