import type { SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import type { ChainPlace } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../../provision.ts'
import type { Called } from '../../command.ts'
import { eachService } from '../each-service.ts'
import type { Finding } from '../finding.ts'
import { mostFindings } from '../limit-findings.ts'
import { checkShape } from '../shape/check-shape.ts'
import { checkChain } from './check-chain.ts'
import { skew } from './check-checkpoints.ts'
import { isPlace } from './is-before.ts'
import { longestWait } from './longest-wait.ts'
import { type Kept, readKept, readKeys, type TrustedKeys } from './kept.ts'
import {
  countInTable,
  hasOlder,
  readEnd,
  readLastNumber,
  readUnchained,
  strangeNumbers,
  tooLarge,
} from './read-pages.ts'
import { readWitnesses } from './read-witnesses.ts'

/** Walks the chains of the services, and tells what contradicts them. */
export async function verifyAudit(
  { system, output, options }: Pick<Called, 'system' | 'output' | 'options'>,
  services: readonly StoringService[],
  reportAll: (found: Finding[]) => Promise<void>,
): Promise<void> {
  const kept = typeof options['checkpoints'] === 'string' ? readKept(options['checkpoints']) : undefined
  const trusted = typeof options['keys'] === 'string' ? readKeys(options['keys']) : undefined
  await eachService(services, 'audit_chain', look, reportAll)

  // Whoever makes any number of findings has made his point, and must not hold up the look at others.
  async function look(service: StoringService, alive: () => void): Promise<void> {
    let number = 0
    try {
      await verifyService(service, { kept, trusted, alive }, async (found) => {
        alive()
        await reportAll(found.slice(0, mostFindings - number))
        number += found.length
        if (number > mostFindings) throw new EnoughFindings()
      })
    } catch (error) {
      if (!(error instanceof EnoughFindings)) throw error
      await reportAll([{ service, row: 'audit_chain', problem: `more differs: the look at it ended after ${mostFindings} findings` }]) // prettier-ignore
    }
  }

  async function verifyService(
    service: StoringService,
    known: { kept: Kept | undefined; trusted: TrustedKeys | undefined; alive: () => void },
    report: (found: Finding[]) => Promise<void>,
  ) {
    const sql = system.sql(service)
    const shape = await checkShape(sql, service)
    await report(shape.found)
    // Code of the service might run where they are read.
    if (!shape.isReadable)
      return output.line(`${service}: its tables are not those of this version, so no event was read`)
    const large = await tooLarge(sql)
    await report(large.map((row) => ({ service, row, problem: 'a value in it is larger than any of Roster' })))
    const strange = await strangeNumbers(sql)
    await report(strange.map((row) => ({ service, row, problem: 'a number in it cannot be' })))
    if (strange.includes('audit_chain')) return
    // First how far they go: checkpoints and pages that come meanwhile are looked at the next time.
    const upTo = await readLastNumber(sql)
    const end = await readEnd(sql)
    const asked = { service, epoch: end.epoch, upTo }
    const { witnesses, former, last, pauses } = await readWitnesses(sql, asked, known.kept, known.trusted, report)
    if (end.held)
      return report([{ service, row: 'audit_chain', problem: 'it is held: stored events are being changed' }])
    const unchained = await readUnchained(sql)
    if (unchained !== undefined) await report([{ service, row: 'audit_chain', problem: unchained }])
    if (await isUnsigned(sql, end, last, pauses))
      await report([{ service, row: 'audit_checkpoints', problem: 'events of the chain have waited too long for a checkpoint' }]) // prettier-ignore
    const walk = checkChain(sql, service, end, { witnesses, former })
    let step = await walk.next()
    for (; !step.done; step = await walk.next()) {
      output.progress(`${service}: event ${step.value.events} of ${end.events}`)
      await report(step.value.found)
    }
    const counted = await countInTable(sql, service, { end, signed: signedPlace(end, last) }, known.alive)
    if ((await readEnd(sql)).epoch !== end.epoch)
      return report([{ service, row: 'audit_chain', problem: 'it began anew meanwhile: call it again' }])
    // Rows that an index passes over are found by no walk along it.
    if (!Number.isNaN(step.value) && counted.chained !== step.value)
      await report([{ service, row: 'events', problem: `the table has ${counted.chained} events up to the end of the chain, and its index events_in_commit_order ${step.value}` }]) // prettier-ignore
    if (counted.unchained > 0 && unchained === undefined && (await readUnchained(sql)) === undefined)
      await report([{ service, row: 'events', problem: 'the table has events that are not in the chain, nor in its index events_in_commit_order' }]) // prettier-ignore
    await report((await checkShape(sql, service)).found.filter((one) => !shape.found.some(({ problem }) => problem === one.problem))) // prettier-ignore
    output.line(`${tell(service, end, last)}; not signed yet: ${counted.unsigned}`)
  }
}

class EnoughFindings extends Error {}

async function isUnsigned(
  sql: Sql,
  end: Awaited<ReturnType<typeof readEnd>>,
  last: SignedCheckpoint | undefined,
  pauses: number[],
): Promise<boolean> {
  const wait = longestWait(last !== undefined, pauses)
  // Older events may have come into the chain only now, after an upgrade.
  const ago = last && Date.now() - Date.parse(last.checkpoint.at)
  if (ago !== undefined && ago < wait * 1000 && ago > -skew) return false
  return hasOlder(sql, signedPlace(end, last), end, wait)
}

// Up to where the last checkpoint signs the chain. A service may tell any place.
function signedPlace({ epoch }: { epoch: number }, last: SignedCheckpoint | undefined): ChainPlace {
  const signed = last?.checkpoint.epoch === epoch ? last.checkpoint.last : undefined
  return isPlace(signed) ? signed : { transactionId: '0', position: '0' }
}

function tell(service: string, end: Awaited<ReturnType<typeof readEnd>>, last: SignedCheckpoint | undefined): string {
  const signed = last
    ? `signed up to event ${last.checkpoint.events} at ${last.checkpoint.at}`
    : 'nothing is signed yet'
  const epoch = end.epoch === 1 ? '' : `, epoch ${end.epoch} (${end.reason})`
  return `${service}: ${end.events} events in the chain${epoch}; ${signed}`
}
