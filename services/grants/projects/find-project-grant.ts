import { orUnavailable } from '#lib/eventstore/database'
import type { Context } from '../context.ts'
import { keyKinds } from '../vocabulary/key-kinds.ts'

/** The id of the grant of a project to an organization; undefined where there is none. */
export async function findProjectGrant(
  { sql }: Context,
  projectId: string,
  organizationId: string,
): Promise<string | undefined> {
  const [found] = await orUnavailable(sql<{ id: string }[]>`
    select aggregate_id as id from unique_keys
    where kind = ${keyKinds.projectGrant} and scope = ${projectId} and key = ${organizationId}
  `)
  return found?.id
}
