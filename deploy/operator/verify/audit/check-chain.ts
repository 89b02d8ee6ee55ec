import type { ChainEnd, ChainPlace } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../../provision.ts'
import { type Finding, rowName } from '../finding.ts'
import { pageProblem, readHeader, type ReadPage, type StoredPage } from './check-page.ts'
import { compareEvents } from './compare-events.ts'
import { readFirstNumber, readPages } from './read-pages.ts'
import { type Witness, type Witnesses, witnessName } from './read-witnesses.ts'

const beginning: ChainPlace = { transactionId: '0', position: '0' }

/**
 * Walks the chain of a service, up to `end`. Compares each page with the events, and with the checkpoints of this epoch.
 * Yields after some pages what it found, and how many events it has looked at.
 */
export async function* checkChain(
  sql: Sql,
  service: StoringService,
  end: ChainEnd,
  { witnesses, former }: Witnesses,
): AsyncGenerator<{ found: Finding[]; events: number }> {
  let before: ReadPage | undefined
  let place = beginning
  let agreed = beginning
  const first = await readFirstNumber(sql)
  let number = first
  if (former && (former.page >= first || former.page > end.page))
    yield { found: [{ service, row: witnessName(former), problem: 'its epoch is over, but the chain has its page' }], events: 0 } // prettier-ignore

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
      const problem = pageProblem(page, service, follows ? before : undefined, page.number === first)
      if (problem !== undefined) say(problem)
      if (page.number === first && former?.page === first - 1 && page.told.previous !== former.hash)
        say('it does not name the one before it')
      if (page.told.epoch !== end.epoch) say('it is of another epoch')
      for (const witness of witnesses.get(page.number) ?? []) {
        if (witness.hash === page.hash) {
          if (witness.isKept) agreed = page.told.last
        } else found.push(contradiction(service, witness, agreed, page))
      }
      witnesses.delete(page.number)
      // Events between two pages would be in none. Where a page is missing, its events are not known.
      const from = follows || page.number === first ? place : justBefore(page.told.first)
      found.push(...(await compareEvents(sql, service, page, from)))
      place = page.told.last
      before = page
    }
    yield { found, events: before?.told.events ?? 0 }
  }
  yield { found: lastFindings(service, end, before, witnesses), events: end.events }
}

function readOrSay(page: StoredPage, say: (problem: string) => void): ReadPage | undefined {
  try {
    return readHeader(page)
  } catch {
    say('its header cannot be read')
    return undefined
  }
}

// The place before which nothing of a page is.
function justBefore({ transactionId, position }: ChainPlace): ChainPlace {
  return { transactionId, position: String(BigInt(position) - 1n) }
}

function contradiction(service: StoringService, witness: Witness, agreed: ChainPlace, page: ReadPage): Finding {
  const upTo = page.told.last.position
  const which = witness.isKept ? `after position ${agreed.position} up to ${upTo}` : `up to position ${upTo}`
  const problem = `the events ${which} are not those that it signed`
  return { service, row: witnessName(witness), problem }
}

function lastFindings(
  service: StoringService,
  end: ChainEnd,
  last: ReadPage | undefined,
  witnesses: Map<number, Witness[]>,
): Finding[] {
  const found: Finding[] = []
  const isWhole = last
    ? last.number === end.page &&
      last.hash === end.hash &&
      last.told.events === end.events &&
      isSame(last.told.last, end)
    : end.events === 0 && isSame(beginning, end)
  if (!isWhole) found.push({ service, row: 'audit_chain', problem: 'it does not say what the last page says' })
  for (const [page, some] of witnesses)
    for (const witness of some)
      found.push({ service, row: witnessName(witness), problem: `page ${page}, which it signed, is missing` })
  return found
}

function isSame(one: ChainPlace, other: ChainPlace): boolean {
  return one.transactionId === other.transactionId && one.position === other.position
}
