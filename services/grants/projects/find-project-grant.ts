import { orUnavailable } from '#lib/database/database'
import type { Context } from '../context.ts'
import { keyKinds } from '../vocabulary/key-kinds.ts'

/** The id of the grant of a project to an organization; undefined where there is none. */
export async function findProjectGrant(
  context: Context,
  projectId: string,
  organizationId: string,
): Promise<string | undefined> {
  return (await findProjectGrants(context, [projectId], organizationId)).get(projectId)
}

/** The ids of the grants of projects to an organization, by project. */
export async function findProjectGrants(
  { sql }: Context,
  projectIds: string[],
  organizationId: string,
): Promise<ReadonlyMap<string, string>> {
  const found = await orUnavailable(sql<{ projectId: string; id: string }[]>`
    select scope as "projectId", aggregate_id as id from unique_keys
    where kind = ${keyKinds.projectGrant} and scope = any(${projectIds}) and key = ${organizationId}
  `)
  return new Map(found.map(({ projectId, id }) => [projectId, id]))
}
