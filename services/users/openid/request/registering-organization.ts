import { RosterError } from '#lib/errors'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { ProjectCopy } from '../applications/application-copy.ts'
import type { Context } from '../../context.ts'
import { isOrganizationOpen } from '../../directory/organizations/statuses.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import type { Asked } from './read-parameters.ts'

/**
 * The organization that people may register in who come by a request: the one that it names, else that of the project.
 * Undefined where its policy does not allow it, and where the request is for a certain person.
 */
export async function registeringOrganization(
  context: Context,
  { asked, project }: { asked: Pick<Asked, 'hintedUser' | 'organizationScope'> | undefined; project: ProjectCopy },
  byProvider = false,
): Promise<string | undefined> {
  if (!asked || asked.hintedUser !== undefined) return undefined
  const organizationId = asked.organizationScope ?? project.organizationId
  // A sign-in to Roster itself, or to its console.
  if (organizationId === '' || organizationId === instance.id) return undefined
  const [{ allowRegister, factors }, isOpen] = await Promise.all([
    loadLoginPolicy(context, organizationId),
    isOrganizationOpen(context, organizationId),
  ])
  // Who registers by a form could not sign in where providers alone do.
  const isUsable = byProvider || !factors.includes('provider')
  return allowRegister && isUsable && isOpen ? organizationId : undefined
}

/** Whether there is such an organization: any request can write an id into a scope. */
export async function isOrganization(
  { grants }: Pick<Context, 'grants'>,
  organizationId: string,
  call: Call,
): Promise<boolean> {
  try {
    await grants.lookupOrganization({ by: { $case: 'organizationId', value: organizationId } }, call)
    return true
  } catch (error) {
    if (error instanceof RosterError && error.reason === 'ORGANIZATION_NOT_FOUND') return false
    throw error
  }
}
