import type { Copied, CopiedSecret } from '#gen/roster/grants/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, Origin } from '#lib/eventstore/command'
import { refuseBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../context.ts'
import type { Closure, ClosureEvent } from '../events/closure.ts'
import { closureKey } from './closures.ts'

/**
 * Notes what grants answered, however often and in which order. UNAVAILABLE UPGRADE_UNDER_WAY, since a replica of the
 * former release does not know the event of a closure.
 */
export async function noteCopies(
  { sql, store }: Pick<Context, 'sql' | 'store'>,
  copied: Copied[],
  call: Origin,
): Promise<void> {
  // The closure comes first: what is noted as open below was open after it.
  for (const copy of copied) {
    if (copy.closedSequence === 0) continue
    await refuseBesideFormer(sql)
    await store.execute({
      aggregate: closureKey(copy.type as 'application' | 'project', copy.id),
      call,
      decide: (closure: Aggregate<Closure>) => closedBy(copy, closure),
    })
  }
  for (const { type, id, organizationId, sequence, state, secretHash, ...copy } of copied) {
    const text = Buffer.from(state).toString()
    const hash = secretHash.length > 0 ? secretHash : null
    // A grants that does not know `secrets` has the hash alone.
    const secrets = hash && copy.secrets.length === 0 ? null : secretRows(copy.secrets)
    // Where two insert one that is new, the second may meet either of two unique indexes, and a conflict names one.
    const { count } = await orUnavailable(sql`
      insert into copies (type, id, organization_id, client_id, sequence, state, secret_hash, secrets)
      values (${type}, ${id}, ${organizationId}, ${text}::text::jsonb ->> 'clientId', ${sequence}, ${text}::text::jsonb,
        ${hash}, ${secrets}::text::jsonb)
      on conflict do nothing
    `)
    if (count > 0) continue
    const kept = copy.secrets.map(({ secretId }) => secretId)
    await orUnavailable(sql`
      update copies set sequence = ${sequence}, state = ${text}::text::jsonb, secret_hash = ${hash},
        secrets = ${secrets}::text::jsonb
      where type = ${type} and id = ${id} and sequence < ${sequence}
    `)
    if (type === 'application')
      await orUnavailable(sql`
        delete from secret_uses where application_id = ${id} and not secret_id = any(${kept}::text[])
      `)
  }
}

/** A secret of an application as `copies` has it. */
export interface CopiedSecretRow {
  id: string
  /** In hex. */
  hash: string
  expiresAt?: string
}

function secretRows(secrets: CopiedSecret[]): string {
  const rows = secrets.map(({ secretId, hash, expirationDate }): CopiedSecretRow => ({
    id: secretId,
    hash: hash.toString('hex'),
    ...(expirationDate && { expiresAt: expirationDate.toISOString() }),
  }))
  return JSON.stringify(rows)
}

function closedBy(
  { organizationId, closedSequence: sequence, state: text }: Copied,
  { state: known }: Aggregate<Closure>,
): Decision<ClosureEvent> {
  if (known && known.sequence >= sequence) return { events: [], answer: undefined }
  const { removed, inactive } = JSON.parse(Buffer.from(text).toString()) as { removed?: true; inactive?: true }
  const state = removed ? 'removed' : inactive ? 'inactive' : 'active'
  return { organizationId, events: [{ type: 'noted', payload: { state, sequence } }], answer: undefined }
}
