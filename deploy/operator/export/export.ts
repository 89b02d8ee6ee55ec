import type { Sql } from '#lib/eventstore/database'
import { storingServices, type StoringService } from '../../provision.ts'
import type { Called, Command } from '../command.ts'
import { Refusal } from '../refusal.ts'
import { openTurns } from '../turns.ts'
import { openProver } from '../verify/audit/export/prove-events.ts'
import { rowName } from '../verify/finding.ts'
import { isOfService, problemOf } from '../verify/is-of-service.ts'
import { linesOfService, type Omitted } from './lines-of-service.ts'

/** The command `export`. */
export const exportOrganization: Command = {
  name: 'export',
  takes: 'ORGANIZATION',
  summary: 'Writes all that belongs to an organization as JSON, a value on each line.',
  more: [
    'First comes a line of the kind `export`, then the events and objects of each service, and last one of the kind `end`.',
    'An export without that last line is not whole.',
    'In place of a row that is larger than any of Roster comes a line of the kind `omitted`: exit status 1.',
    'It has no secret: no password, token, key, secret of a machine, provider or webhook. It has personal data.',
  ],
  options: { proof: { type: 'boolean' } },
  optionLines: ['--proof         adds proofs, which verify --audit --export reads; leaves out what is not signed yet'],
  arguments: [1, 1],
  run,
}

async function run({ system, output, args, options }: Called): Promise<number> {
  const organization = args[0]!
  const turns = openTurns(system, output)
  const look = (service: StoringService) => turns.at(service, (sql) => hasEvents(sql, organization))
  const known = await Promise.all(storingServices.map(look))
  // Where one cannot be read, that is told below.
  if (!known.includes(true)) {
    turns.tell()
    throw new Refusal(`There is no organization ${JSON.stringify(organization)}.`)
  }
  await output.json({ kind: 'export', format: 1, organization, at: new Date() })
  const counted = { events: 0, objects: 0, omitted: 0 }
  const unread: string[] = []
  for (const service of storingServices) {
    try {
      await writeService(service)
    } catch (error) {
      // Whoever holds one service must not hinder that the others are written.
      if (!isOfService(error)) throw error
      unread.push(`${service}: ${problemOf(error, 'its events and objects cannot be read to their end')}`)
    }
  }
  if (unread.length > 0) throw new Refusal([...unread, 'The export is not whole.'].join('\n'))
  const { omitted, ...written } = counted
  await output.json({ kind: 'end', ...written, ...(omitted > 0 && { omitted }) })
  return omitted > 0 ? 1 : 0

  async function writeService(service: StoringService): Promise<void> {
    const [sql, personal] = [system.sql(service), await system.personal(service)]
    const prover = options['proof'] === true ? await openProver(sql, service) : undefined
    if (options['proof'] === true && !prover) return
    const large = { rows: 0, first: '' }
    for await (const line of linesOfService({ sql, service, organization, personal, prover })) {
      await output.json(line)
      if (line.kind === 'event') counted.events++
      if (line.kind === 'object') counted.objects++
      if (line.kind === 'omitted') {
        if (large.rows++ === 0) large.first = nameOf(line)
        counted.omitted++
      }
      output.progress(`${service}: ${counted.events} events, ${counted.objects} objects`)
    }
    const what = 'rows are left out, because they are larger than any of Roster'
    if (large.rows > 0) output.trouble(`${service}: ${large.rows} ${what}; the first is ${large.first}`)
  }
}

async function hasEvents(sql: Sql, organization: string): Promise<boolean> {
  return (await sql`select from events where organization_id = ${organization} limit 1`).count > 0
}

function nameOf({ table, bytes, position, type, id }: Omitted): string {
  const key = position === undefined ? { type, id } : { position }
  return `${rowName(table, key).slice(0, longestName)}, of ${bytes} bytes`
}

const longestName = 500
