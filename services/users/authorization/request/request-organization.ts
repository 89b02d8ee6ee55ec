import { instance } from '#lib/instance'
import { loadApplication } from '../../applications/find-application.ts'
import type { Context } from '../../context.ts'
import type { Parameters } from './parameters.ts'
import { organizationOf } from './read-scopes.ts'

/** What a request says of its organization. */
export type Naming = Pick<Parameters, 'clientId' | 'scope'>

/** Whose policy the pages of a request have: as `organizationOfRequest`; of an unknown application, the instance. */
export async function organizationOfPages({ sql }: Pick<Context, 'sql'>, { clientId, scope }: Naming): Promise<string> {
  const application = await loadApplication(sql, { clientId })
  return application ? organizationOfRequest(scope, application.project.organizationId) : instance.id
}

/** The organization that a request names, else that of the project. */
export function organizationOfRequest(scope: string, ofProject: string): string {
  return organizationOf(scope) ?? ofProject
}
