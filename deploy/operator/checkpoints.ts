import { checkpointsAfter, readAuditKeys } from '#lib/eventstore/audit/chain-rows'
import { storingServices } from '../provision.ts'
import type { Called, Command } from './command.ts'
import { readServices } from './services.ts'

/** The command `checkpoints`. */
export const checkpoints: Command = {
  name: 'checkpoints',
  takes: '[SERVICE…]',
  summary: 'Writes the signed checkpoints of the audit chains as JSON, a value on each line, to be kept elsewhere.',
  more: [
    'Keep them where nobody who can change the database can change them. `verify --audit --checkpoints` compares.',
    'A line of the kind `key` has a public key. There is no secret in them, and nothing of a person.',
  ],
  arguments: [0, storingServices.length],
  run,
}

const pageSize = 500

async function run({ system, output, args }: Called): Promise<number> {
  for (const service of readServices(args)) {
    const sql = system.sql(service)
    for (const key of await readAuditKeys(sql)) await output.json({ kind: 'key', service, key })
    for (let after = 0; ;) {
      const rows = await checkpointsAfter(sql, after, pageSize)
      if (rows.length === 0) break
      for (const { number, jws } of rows) await output.json({ kind: 'checkpoint', service, number, jws })
      after = rows.at(-1)!.number
      output.progress(`${service}: ${after} checkpoints`)
    }
  }
  return 0
}
