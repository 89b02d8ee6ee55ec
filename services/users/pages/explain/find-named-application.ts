import { invalid, RosterError } from '#lib/errors'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { runQueued } from '#lib/search/search-queue'
import type { Context } from '../../context.ts'
import { authorizationType } from '../../openid/events/authorization.ts'

const mostNamed = 20

/**
 * The id of the application with this name, of those whose project the caller may read, by the permissions that it came
 * with, and those that the user has signed in to. NOT_FOUND APPLICATION_NOT_FOUND; INVALID_ARGUMENT
 * APPLICATION_NAME_AMBIGUOUS; errors of `runQueued`.
 */
export async function findNamedApplication(
  { sql }: Context,
  { name, userId }: { name: string; userId: string | undefined },
  call: Call,
): Promise<string> {
  const { caller, organizationId: acting } = call
  const places = [...new Set([acting, caller.organizationId])]
  const organizations = places.filter((id) => holds(caller, 'project.read', id))
  const projects = places.flatMap((id) =>
    Object.keys(caller.projectRoles[id] ?? {}).filter((project) => holds(caller, 'project.read', id, project)),
  )
  const seen = holds(caller, 'project.read')
    ? sql`true`
    : sql`(
        organization_id = any(${organizations}::text[]) or state ->> 'projectId' = any(${projects}::text[])
        or exists (
          select from events where aggregate_type = ${authorizationType} and type = 'granted'
            and payload ->> 'userId' = ${userId ?? ''} and payload ->> 'applicationId' = copies.id
        )
      )`
  const found = await runQueued(
    sql,
    call,
    sql<{ id: string }[]>`
      select id from copies
      where type = 'application' and (state ->> 'name') collate "C" = ${name} and state ? 'oidc' and ${seen}
      order by id limit ${mostNamed + 1}
    `,
  )
  const ids = found.map(({ id }) => id)
  if (ids.length === 1) return ids[0]!
  if (ids.length === 0)
    throw new RosterError(
      'NOT_FOUND',
      'APPLICATION_NOT_FOUND',
      'There is no application of this name that the caller may read, or that the user has signed in to.',
    )
  const listed = `${ids.slice(0, mostNamed).join(', ')}${ids.length > mostNamed ? ' and more' : ''}`
  const description = `names several applications: ${listed}`
  throw invalid([{ field: 'applicationName', description }], 'APPLICATION_NAME_AMBIGUOUS')
}
