import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../provision.ts'
import { cell, idCell, longestCell } from '../cell.ts'
import type { Called } from '../command.ts'
import { openTurns } from '../turns.ts'
import { type Output, table } from '../output.ts'
import { mostRows } from '../reading/page-limits.ts'
import { readServices } from '../services.ts'
import { countParked, findParked, type Parked } from './find-parked.ts'

/** Parked events of a service that are listed. */
const mostListed = 10_000

/** Lists the parked events of services, and says what of them is not listed. */
export async function listParked({ system, output, args }: Called): Promise<number> {
  let found = 0
  const lines: Parked[] = []
  const show = () => {
    if (output.isJson || lines.length === 0) return
    for (const line of table(['ID', 'EVENT', 'OBJECT', 'TRIES', 'REASON'], lines.splice(0).map(row))) output.line(line)
  }
  const turns = openTurns(system, output)
  for (const service of readServices(args)) await turns.at(service, (sql) => listOf(service, sql))
  show()
  const status = turns.end(found > 0 ? 1 : 0)
  if (found === 0 && status === 0) output.line('No event is parked.')
  return status

  async function listOf(service: StoringService, sql: Sql): Promise<void> {
    const { parked, unread } = await countParked(sql)
    let listed = 0
    for await (const page of findParked(service, sql)) {
      const some = page.slice(0, mostListed - listed)
      listed += some.length
      found += some.length
      if (output.isJson) for (const one of some) await output.json(one)
      else lines.push(...some)
      if (lines.length >= mostRows) show()
      if (listed === mostListed) break
    }
    if (parked > listed) output.trouble(`${service}: ${parked - listed} more events are parked, and are not listed`)
    sayUnread(output, service, unread)
    found += unread
  }
}

function row({ id, type, aggregateId, tries, retry: again, reason, cutFrom }: Parked): (string | number)[] {
  const mark = cutFrom === undefined ? '' : `… (cut: ${cutFrom} bytes)`
  const shown = cutFrom === undefined ? reason : cell(reason, longestCell - mark.length).replace(/…$/, '') + mark
  return [idCell(id), type, idCell(aggregateId), again ? `${tries}, again soon` : tries, shown]
}

/** Says how many parked events nobody reads. */
export function sayUnread(output: Output, service: StoringService, unread: number): void {
  const problem = 'are parked for a follower whose name is longer than any of Roster, and are not read'
  if (unread > 0) output.trouble(`${service}: ${unread} events ${problem}`)
}
