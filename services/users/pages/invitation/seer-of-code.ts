import { instance } from '#lib/instance'
import type { ServiceCall } from '#lib/rpc/call'
import { coversRole } from '#lib/rpc/roles'
import { membershipsIn } from '../../../roles-there.ts'
import type { Context } from '../../context.ts'

/**
 * Who else may accept an invitation, since its code was returned to them; undefined where it was mailed, or where their role
 * covers every other. What is set up with the code carries that: the passkey `setBy`, the link `named`.
 */
export async function seerOfCode(
  { grants }: Pick<Context, 'grants'>,
  { delivery, inviterId, organizationId }: { delivery: string; inviterId: string; organizationId: string },
  call: ServiceCall,
): Promise<string | undefined> {
  if (delivery !== 'returned') return undefined
  const { instanceRoles } = await grants.listMemberships(membershipsIn(inviterId, organizationId), call)
  return coversRole(instanceRoles, instance.administratorRole) ? undefined : inviterId
}
