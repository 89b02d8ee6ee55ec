import type { StoredMsg } from 'nats'
import type { PublishedEvent } from '#lib/events/cloud-event'
import { checkpointId, checkpointSubject, checkpointType } from '#lib/eventstore/audit/publish-checkpoint'
import type { Sql } from '#lib/eventstore/database'
import { instance } from '#lib/instance'
import type { StoringService } from '../../provision.ts'
import { differences } from './finding.ts'

/** A message of the stream that calls itself a checkpoint. */
export interface ToldCheckpoint {
  message: StoredMsg
  event: PublishedEvent
}

/** Characters of a signed checkpoint that are compared. A true one is far shorter. */
const longest = 65_536

/** Which of these messages are not the checkpoints that the service stored, and why. Their signatures are not looked at. */
export async function checkToldCheckpoints(
  sql: Sql,
  service: StoringService,
  told: ToldCheckpoint[],
): Promise<{ message: StoredMsg; problem: string }[]> {
  const stored = await sql<{ number: string; jws: string; at: Date }[]>`
    select number::text, left(jws, ${longest}) as jws, signed_at as at from audit_checkpoints
    where number = any(${told.map(({ event }) => numberOf(event))}::bigint[])
  `
  const byNumber = new Map(stored.map((row) => [Number(row.number), row]))
  return told.flatMap(({ message, event }) => {
    const number = numberOf(event)
    const row = byNumber.get(number)
    if (message.subject !== checkpointSubject(service))
      return [{ message, problem: 'it calls itself a checkpoint, and lies elsewhere than those' }]
    if (!row) return [{ message, problem: 'the database has no such checkpoint' }]
    const differing = differences(event, expected(service, number, row), '')
    if (differing.length === 0) return []
    return [{ message, problem: `${differing.join(', ')}: not what checkpoint ${number} of the database says` }]
  })
}

// A number that no checkpoint has, where the message names none.
function numberOf({ sequence }: PublishedEvent): number {
  return Number.isSafeInteger(sequence) ? sequence : -1
}

function expected(service: StoringService, number: number, { jws, at }: { jws: string; at: Date }): PublishedEvent {
  return {
    id: checkpointId(service, number),
    source: `/roster/${service}`,
    type: checkpointType,
    aggregateType: 'audit',
    aggregateId: service,
    sequence: number,
    organizationId: instance.id,
    actor: '',
    requestId: '',
    causationId: '',
    traceparent: '',
    cause: '',
    // Infinity is a time that no message tells.
    time: Number.isNaN(at.getTime()) ? '' : at.toISOString(),
    data: { service, number, jws },
  }
}
