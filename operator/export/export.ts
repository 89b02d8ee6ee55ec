import { storingServices, type StoringService } from '../../deploy/provision.ts'
import type { Called, Command } from '../command.ts'
import { Refusal } from '../refusal.ts'
import { openProver } from './prove-events.ts'
import { linesOfService } from './lines-of-service.ts'

export const exportOrganization: Command = {
  name: 'export',
  takes: 'ORGANIZATION',
  summary: 'Writes all that belongs to an organization as JSON, a value on each line.',
  more: [
    'First comes a line of the kind `export`, then the events and objects of each service, and last one of the kind `end`.',
    'An export without that last line is not whole.',
    'It has no secret: no password, token, key, secret of a machine, provider or webhook. It has personal data.',
  ],
  options: { proof: { does: 'adds proofs, which verify --audit --export reads; leaves out what is not signed yet' } },
  arguments: [1, 1],
  run,
}

async function run({ system, output, args, options }: Called): Promise<number> {
  const organization = args[0]!
  const known = await Promise.all(storingServices.map(hasEvents))
  if (!known.includes(true)) throw new Refusal(`There is no organization ${JSON.stringify(organization)}.`)
  await output.json({ kind: 'export', format: 1, organization, at: new Date() })
  const counted = { events: 0, objects: 0 }
  for (const service of storingServices) {
    const [sql, personal] = [system.sql(service), await system.personal(service)]
    const prover = options['proof'] === true ? await openProver(sql, service) : undefined
    if (options['proof'] === true && !prover) continue
    for await (const line of linesOfService({ sql, service, organization, personal, prover })) {
      await output.json(line)
      if (line.kind === 'event') counted.events++
      if (line.kind === 'object') counted.objects++
      output.progress(`${service}: ${counted.events} events, ${counted.objects} objects`)
    }
  }
  await output.json({ kind: 'end', ...counted })
  return 0

  async function hasEvents(service: StoringService): Promise<boolean> {
    return (await system.sql(service)`select from events where organization_id = ${organization} limit 1`).count > 0
  }
}
