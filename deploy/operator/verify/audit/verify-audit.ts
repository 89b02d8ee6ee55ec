import type { SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import type { ChainEnd, ChainPlace } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../../provision.ts'
import type { Called } from '../../command.ts'
import { eachService } from '../../services.ts'
import { checkSchema } from '../check-schema.ts'
import type { Finding } from '../finding.ts'
import { checkChain } from './check-chain.ts'
import { skew } from './check-checkpoints.ts'
import { readKept, readKeys } from './kept.ts'
import { longestWait } from './longest-wait.ts'
import { countAfter, hasOlder, readEnd, readLastNumber, readUnchained } from './read-pages.ts'
import { readWitnesses } from './read-witnesses.ts'

/** Walks the chains of the services, and tells what contradicts them. Gives whether all could be read. */
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
    const upTo = await readLastNumber(sql)
    const end = await readEnd(sql)
    const asked = { service, epoch: end.epoch, upTo }
    const { witnesses, former, last, pauses } = await readWitnesses(sql, asked, kept, trusted, report)
    if (end.held) return say('audit_chain', 'it is held: stored events are being changed')
    const unchained = await readUnchained(sql)
    if (unchained !== undefined) await say('audit_chain', unchained)
    if (await isUnsigned(sql, end, last, pauses))
      await say('audit_checkpoints', 'events of the chain have waited too long for a checkpoint')
    for await (const { found, events } of checkChain(sql, service, end, { witnesses, former })) {
      output.progress(`${service}: event ${events} of ${end.events}`)
      await report(found)
    }
    if ((await readEnd(sql)).epoch !== end.epoch) return say('audit_chain', 'it began anew meanwhile: call it again')
    const unsigned = await countAfter(sql, signedPlace(end, last))
    output.line(`${tell(service, end, last)}; not signed yet: ${unsigned}`)
  })
}

async function isUnsigned(
  sql: Sql,
  end: ChainEnd,
  last: SignedCheckpoint | undefined,
  pauses: number[],
): Promise<boolean> {
  const wait = longestWait(last !== undefined, pauses)
  // Older events may have come into the chain only now, after an upgrade.
  const ago = last && Date.now() - Date.parse(last.checkpoint.at)
  if (ago !== undefined && ago < wait * 1000 && ago > -skew) return false
  return hasOlder(sql, signedPlace(end, last), end, wait)
}

// Up to where the last checkpoint signs the chain.
function signedPlace({ epoch }: ChainEnd, last: SignedCheckpoint | undefined): ChainPlace {
  return last?.checkpoint.epoch === epoch ? last.checkpoint.last : { transactionId: '0', position: '0' }
}

function tell(service: string, end: Awaited<ReturnType<typeof readEnd>>, last: SignedCheckpoint | undefined): string {
  const signed = last
    ? `signed up to event ${last.checkpoint.events} at ${last.checkpoint.at}`
    : 'nothing is signed yet'
  const epoch = end.epoch === 1 ? '' : `, epoch ${end.epoch} (${end.reason})`
  return `${service}: ${end.events} events in the chain${epoch}; ${signed}`
}
