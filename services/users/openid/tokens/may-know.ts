import type { FoundToken } from '../../directory/tokens/token.ts'
import type { Client } from '../clients/client.ts'
import { readScope } from '../scope.ts'

/**
 * Whether a client may know what an access token allows. That of a person: its application, the applications of the
 * project that it is for, and machines of the organization that owns that project. That of a machine: machines of the
 * organization that the machine belongs to, and of the one that owns the project.
 */
export function mayKnow(
  client: Client,
  { organizationId, access }: FoundToken,
  /** Of a person. */
  applicationId: string | undefined,
): boolean {
  const { projectId } = readScope(access?.scope ?? '')
  if ('machine' in client) {
    const owner = projectId === undefined ? undefined : access?.projectOrganizationId
    const own = applicationId === undefined ? organizationId : undefined
    return [owner, own].includes(client.machine.organizationId)
  }
  return applicationId !== undefined && (client.application.id === applicationId || client.project.id === projectId)
}
