import { instance } from '#lib/instance'
import type { ApplicationCopy, ProjectCopy } from '../applications/application-copy.ts'
import { loadApplication } from '../applications/find-application.ts'
import type { Context } from '../../context.ts'
import type { Parameters } from './parameters.ts'
import { hintedOrganization, organizationOf } from './read-scopes.ts'

/** What a request says of its organization. */
export type Naming = Pick<Parameters, 'clientId' | 'scope' | 'invitation'>

/** Whose policy the pages of a request have: of who invites, else as `organizationOfRequest`; of an unknown application, the instance. */
export async function organizationOfPages(
  context: Pick<Context, 'sql' | 'config' | 'remembered'>,
  { clientId, scope, invitation }: Naming,
): Promise<string> {
  if (invitation) return invitation.organizationId
  if (clientId === '') return hintedOrganization(scope) ?? instance.id
  const application = await loadApplication(context, { clientId })
  return application ? organizationOfRequest(scope, application) : instance.id
}

/** The organization whose people alone may come, else that of the project; at Roster itself, the one from which somebody comes. */
export function organizationOfRequest(scope: string, { application, project }: Addressed): string {
  const hinted = isRosterItself(application) ? hintedOrganization(scope) : undefined
  return onlyOrganization(scope, application) ?? hinted ?? project.organizationId
}

/** Whether a request is for the own account, or for the console. */
export function isRosterItself({ clientId }: Pick<ApplicationCopy, 'clientId'>): boolean {
  return clientId === '' || clientId === instance.console.clientId
}

/** The organization whose people alone may come, by the settings of the application or by the scope. */
export function onlyOrganization(scope: string, { oidc }: Pick<ApplicationCopy, 'oidc'>): string | undefined {
  return oidc?.organizationId ?? organizationOf(scope)
}

interface Addressed {
  application: Pick<ApplicationCopy, 'clientId' | 'oidc'>
  project: Pick<ProjectCopy, 'organizationId'>
}
