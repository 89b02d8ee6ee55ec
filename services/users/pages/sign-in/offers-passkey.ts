import { orUnavailable } from '#lib/database/database'
import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'
import type { LoginPolicy } from '../../sessions/login-policy/login-policy.ts'

/**
 * Whether a page offers a passkey to a person whom nobody has named yet: as the policy of the request says. To Roster's own
 * pages come people of each organization, so there it is offered where anybody has one; the policy of the person judges it.
 */
export async function offersPasskey(
  { sql }: Pick<Context, 'sql'>,
  { allowPasskeys }: Pick<LoginPolicy, 'allowPasskeys'>,
  organizationId: string,
): Promise<boolean> {
  if (allowPasskeys || !['', instance.id].includes(organizationId)) return allowPasskeys
  const [row] = await orUnavailable(sql<{ found: boolean }[]>`
    select exists (select from user_factors where kind = 'passkey') as found
  `)
  return row!.found
}
