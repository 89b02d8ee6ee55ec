import type {
  Copied,
  LookupApplicationRequest,
  LookupApplicationResponse,
} from '#gen/roster/grants/v1/internal_service'
import { type Fragment, orUnavailable, type Sql } from '#lib/database/database'
import { clientKey } from '../../applications/own-application.ts'
import type { Context } from '../../context.ts'
import type { ApplicationEvent } from '../../vocabulary/application.ts'
import type { ProjectEvent } from '../../vocabulary/project.ts'

/**
 * One statement, so that sequence, state and secret are of one moment. The project comes first: who notes both in this
 * order never knows an application without its project.
 */
export async function lookupApplication(
  { sql }: Context,
  { by }: LookupApplicationRequest,
): Promise<LookupApplicationResponse> {
  if (!by) return { copied: [] }
  const rows = await orUnavailable(sql<(Omit<Copied, 'secretHash' | 'secrets'> & { secrets: CopiedRow[] })[]>`
    with named (type, id) as (${named(sql, by)})
    select a.type, a.id, a.organization_id as "organizationId", a.sequence::int as sequence,
      convert_to((a.state - 'roles')::text, 'UTF8') as state,
      coalesce((
        select max(sequence)::int from events
        where aggregate_type = a.type and aggregate_id = a.id and type = any(${closing})
      ), 0) as "closedSequence",
      (
        select coalesce(jsonb_agg(jsonb_build_object('secretId', secret_id, 'hash', encode(hash, 'hex'),
          'expiresAt', one ->> 'expiresAt') order by position), '[]')
        from jsonb_array_elements(a.state -> 'secrets') with ordinality as s (one, position)
        cross join lateral (select * from application_secrets where secret_id = one ->> 'secretId' offset 0) x
      ) as secrets
    from named join aggregates a using (type, id)
    order by a.type desc
  `)
  return { copied: rows.map(withSecrets) }
}

interface CopiedRow {
  secretId: string
  hash: string
  expiresAt: string | null
}

function withSecrets({
  secrets,
  ...copied
}: Omit<Copied, 'secretHash' | 'secrets'> & { secrets: CopiedRow[] }): Copied {
  const shown = secrets.map(({ secretId, hash, expiresAt }) => ({
    secretId,
    hash: Buffer.from(hash, 'hex'),
    expirationDate: expiresAt === null ? undefined : new Date(expiresAt),
  }))
  return { ...copied, secretHash: shown[0]?.hash ?? Buffer.alloc(0), secrets: shown }
}

const closing = ['deactivated', 'reactivated', 'removed'] satisfies (ApplicationEvent | ProjectEvent)['type'][]

function named(sql: Sql, by: NonNullable<LookupApplicationRequest['by']>): Fragment {
  if (by.$case === 'projectId') return sql`values ('project', ${by.value})`
  const id = by.$case === 'clientId' ? ofClient(sql, by.value) : sql`${by.value}`
  return sql`
    select unnest(array['application', 'project']), unnest(array[id, state ->> 'projectId'])
    from aggregates where type = 'application' and id = ${id}
  `
}

function ofClient(sql: Sql, clientId: string): Fragment {
  const { kind, scope, key } = clientKey(clientId)
  return sql`(select aggregate_id from unique_keys where kind = ${kind} and scope = ${scope} and key = ${key})`
}
