import type { AuditedRow } from '#lib/eventstore/audit/canonical-row'
import type { ChainPlace } from '#lib/eventstore/audit/page'
import type { SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../../provision.ts'
import { type Finding, rowName } from '../finding.ts'
import { compareRows, pageProblem, readHeader, type ReadPage, type StoredPage } from './check-page.ts'
import { checkpointName } from './check-checkpoints.ts'
import { readEnd, readGaps, readPages, readRows } from './read-pages.ts'

/** A checkpoint, and whether it was kept elsewhere. */
export interface Witness {
  signed: SignedCheckpoint
  isKept: boolean
}

const beginning: ChainPlace = { transactionId: '0', position: '0' }

/**
 * Walks the chain of a service, up to `end`. Compares each page with the events, and with the checkpoints of this epoch.
 * `witnesses` are those by their page.
 */
export async function* checkChain(
  sql: Sql,
  service: StoringService,
  end: Awaited<ReturnType<typeof readEnd>>,
  witnesses: Map<number, Witness[]>,
): AsyncGenerator<{ found: Finding[]; events: number }> {
  let before: ReadPage | undefined
  let place = beginning
  let agreed = beginning
  let number = await firstPage(sql)

  for (;;) {
    const stored = await readPages(sql, number - 1, end.page)
    if (stored.length === 0) break
    const found: Finding[] = []
    for (const one of stored) {
      const name = rowName('audit_pages', { number: one.number })
      const say = (problem: string) => void found.push({ service, row: name, problem })
      if (one.number !== number)
        say(`${one.number - 1 === number ? `${number} is` : `${number} to ${one.number - 1} are`} missing before it`)
      number = one.number + 1
      const page = readOrSay(one, say)
      if (!page) {
        before = undefined
        continue
      }
      const follows = before?.number === page.number - 1
      const problem = pageProblem(page, service, follows ? before : undefined)
      if (problem !== undefined) say(problem)
      if (page.told.epoch !== end.epoch) say('it is of another epoch')
      for (const witness of witnesses.get(page.number) ?? []) {
        if (witness.signed.checkpoint.hash === page.hash) {
          if (witness.isKept) agreed = page.told.last
        } else found.push(contradiction(service, witness, agreed, page))
      }
      witnesses.delete(page.number)
      // Events between two pages would be in none. Where a page is missing, its events are not known.
      const from = follows || page.number === 1 ? place : justBefore(page.told.first)
      found.push(...(await compare(sql, service, page, from)))
      place = page.told.last
      before = page
    }
    yield { found, events: before?.told.events ?? 0 }
  }
  yield { found: lastFindings(service, end, before, witnesses), events: end.events }
}

async function firstPage(sql: Sql): Promise<number> {
  const [row] = await sql<{ number: number }[]>`select number::float8 from audit_pages order by number limit 1`
  return row?.number ?? 1
}

function readOrSay(page: StoredPage, say: (problem: string) => void): ReadPage | undefined {
  try {
    return readHeader(page)
  } catch {
    say('its header cannot be read')
    return undefined
  }
}

function contradiction(
  service: StoringService,
  { signed, isKept }: Witness,
  agreed: ChainPlace,
  page: ReadPage,
): Finding {
  const { number } = signed.checkpoint
  const between = `after position ${agreed.position} up to ${page.told.last.position}`
  return {
    service,
    row: isKept ? `kept checkpoint number=${number}` : checkpointName(number),
    problem: `the events ${isKept ? between : `up to position ${page.told.last.position}`} are not those that it signed`,
  }
}

function justBefore({ transactionId, position }: ChainPlace): ChainPlace {
  return { transactionId, position: String(BigInt(position) - 1n) }
}

async function compare(sql: Sql, service: StoringService, page: ReadPage, from: ChainPlace): Promise<Finding[]> {
  const rows = await readRows(sql, from, page.told.last)
  const { altered, inserted, removed } = compareRows(page, rows)
  const name = (position: string) => rowName('events', { position: Number(position) })
  const told = ({ aggregate_type, aggregate_id, sequence }: AuditedRow) =>
    `${aggregate_type} ${aggregate_id}, sequence ${sequence}`
  const gone = removed.length > 0 ? await whatIsGone(sql, removed) : undefined
  return [
    ...altered.map((row) => ({ service, row: name(row.position), problem: `it was altered: ${told(row)}` })),
    ...inserted.map((row) => ({ service, row: name(row.position), problem: `it was inserted: ${told(row)}` })),
    ...removed.map((position) => ({ service, row: name(position), problem: gone!(position) })),
  ]
}

// An event may also stand at another place now.
async function whatIsGone(sql: Sql, removed: string[]): Promise<(position: string) => string> {
  const moved = await sql<{ position: string }[]>`
    select position::text from events where position = any(${removed}::bigint[])
  `
  const there = new Set(moved.map(({ position }) => position))
  const gaps = there.size < removed.length ? await readGaps(sql) : []
  const objects = gaps.map(({ type, id, sequence }) => `${type} ${id}, sequence ${sequence}`).join('; ')
  return (position) => {
    if (there.has(position)) return 'it was moved to another place of the order of commits'
    return objects === '' ? 'it was removed' : `it was removed; missing is: ${objects}`
  }
}

function lastFindings(
  service: StoringService,
  end: Awaited<ReturnType<typeof readEnd>>,
  last: ReadPage | undefined,
  witnesses: Map<number, Witness[]>,
): Finding[] {
  const found: Finding[] = []
  const isWhole =
    end.events === 0 || (last?.number === end.page && last.hash === end.hash && last.told.events === end.events)
  if (!isWhole) found.push({ service, row: 'audit_chain', problem: 'it does not say what the last page says' })
  for (const [page, some] of witnesses)
    for (const { signed, isKept } of some)
      found.push({
        service,
        row: isKept ? `kept checkpoint number=${signed.checkpoint.number}` : checkpointName(signed.checkpoint.number),
        problem: `page ${page}, which it signed, is missing`,
      })
  return found
}
