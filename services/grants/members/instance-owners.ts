import { orUnavailable, type Sql } from '#lib/database/database'
import { instance } from '#lib/instance'

/** The users that have the role of an owner of the instance, active or not. */
export async function findInstanceOwners(sql: Sql): Promise<string[]> {
  const rows = await orUnavailable(sql<{ userId: string }[]>`
    select user_id as "userId" from memberships
    where organization_id = ${instance.id} and ${instance.administratorRole} = any(roles)
  `)
  return rows.map(({ userId }) => userId)
}
