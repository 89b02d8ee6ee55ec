import { lastCheckpoint, readChain } from '#lib/audit-log/chain-rows'
import type { Sql } from '#lib/database/database'
import type { StoringService } from '../../../deploy/provision.ts'
import type { Called } from '../../command.ts'
import { eachService } from '../../services.ts'
import { lookAtChain } from '../../status/look-at-store.ts'
import { checkSchema } from '../check-schema.ts'
import type { Finding } from '../finding.ts'
import { checkChain } from './check-chain.ts'
import { readKept, readKeys } from './kept.ts'
import { readWitnesses } from './read-witnesses.ts'

/** Seconds after which an event should be in the chain. */
const patience = 300

/** Walks the chains of the services, and reports what contradicts them. Returns whether all could be read. */
export async function verifyAudit(
  { system, output, options }: Pick<Called, 'system' | 'output' | 'options'>,
  services: readonly StoringService[],
  report: (found: Finding[]) => Promise<void>,
): Promise<boolean> {
  const kept = typeof options['checkpoints'] === 'string' ? readKept(options['checkpoints']) : undefined
  const trusted = typeof options['keys'] === 'string' ? readKeys(options['keys']) : undefined
  return eachService(services, output, async (service) => {
    const sql = system.sql(service)
    const say = (row: string, problem: string) => report([{ service, row, problem }])
    await report(await checkSchema(sql, service))
    // First how far they go: checkpoints and pages that come meanwhile are looked at the next time.
    const upTo = (await lastCheckpoint(sql))?.number ?? 0
    const end = await readChain(sql)
    const { witnesses, last } = await readWitnesses(sql, { service, epoch: end.epoch, upTo, kept, trusted }, report)
    if (end.held) return say('audit_chain', 'it is held: stored events are being changed')
    const { seconds, unsigned, unsignedEvents, mayWait } = await lookAtChain(sql)
    if (seconds > patience)
      await say('audit_chain', `events that are older than five minutes are not in it${await readOpen(sql)}`)
    if (unsigned > mayWait) await say('audit_checkpoints', 'events of the chain have waited too long for a checkpoint')
    for await (const { found, events } of checkChain(sql, service, end, witnesses)) {
      output.progress(`${service}: event ${events} of ${end.events}`)
      await report(found)
    }
    if ((await readChain(sql)).epoch !== end.epoch)
      return say('audit_chain', 'it started a new epoch meanwhile: call the command again')
    const epoch = end.epoch === 1 ? '' : `, epoch ${end.epoch} (${end.reason})`
    const signed = last ? `signed up to event ${last.events} at ${last.at}` : 'nothing is signed yet'
    output.line(`${service}: ${end.events} events in the chain${epoch}; ${signed}; not signed yet: ${unsignedEvents}`)
  })
}

// An open transaction stops the chain: it may take nothing then. Locks show every role whose it is.
async function readOpen(sql: Sql): Promise<string> {
  const [row] = await sql<{ process: number; role: string | null }[]>`
    select l.pid as process, a.usename::text as role from pg_locks l left join pg_stat_activity a using (pid)
    where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted and not exists (
      select from events e where (e.transaction_id, e.position) > (select transaction_id, position from audit_chain)
        and e.transaction_id < settled_below()
    )
    order by age(l.transactionid) desc limit 1
  `
  return row ? `; a transaction is open, of ${row.role ?? 'an unknown role'} in process ${row.process}` : ''
}
