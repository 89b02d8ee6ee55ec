import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { isAdministrator, membershipsIn } from '../../../../roles-there.ts'
import type { Context } from '../../../context.ts'
import { sameAddress } from '../../../directory/email/address.ts'
import { findUserById, type LoginUser } from '../../../directory/login-names/login-user.ts'
import { addressKey, isProvedAddress } from '../../../directory/login-names/read-proofs.ts'
import { isActive } from '../../../directory/states/user-state.ts'
import { type SaidOfAddress, type TrustedAddress, trustedAddress } from './trusted-address.ts'

/** Of the people who have an address in one organization, these are looked at. */
const most = 20

/**
 * Whether a first sign-in must not make an account in an organization, because somebody of it has the address for which it
 * trusts the provider. `shut-out`: that one is deactivated or locked, and would be back as somebody new. `has-role`: that one
 * has a role of Roster, and connects the account by hand.
 */
export async function isPassedBy(
  context: Context,
  organizationId: string,
  said: SaidOfAddress,
  call: Call,
): Promise<'shut-out' | 'has-role' | undefined> {
  const trusted = await trustedAddress(context, said)
  if (trusted?.organizationId !== organizationId) return undefined
  const ids = await idsOfHolders(context, said.email, organizationId, most)
  const users = await Promise.all(ids.map((id) => findUserById(context, id)))
  const holders = users.filter(
    (user) => user !== undefined && !user.state.removed && hasNow(user, said.email),
  ) as LoginUser[]
  if (holders.some(({ state }) => !isActive(state))) return 'shut-out'
  const roles = await Promise.all(holders.map((one) => hasRole(context, one, call)))
  return roles.includes(true) ? 'has-role' : undefined
}

/** Who of an organization has an address now and has proved it. Where several people have, nobody is meant. */
export async function findHolder(
  context: Context,
  email: string,
  { organizationId }: TrustedAddress,
): Promise<LoginUser | undefined> {
  const ids = await idsOfHolders(context, email, organizationId, 2)
  const user = ids.length === 1 ? await findUserById(context, ids[0]!) : undefined
  if (!user || user.organizationId !== organizationId || !hasNow(user, email)) return undefined
  const { userId, state } = user
  return (await isProvedAddress(context, { id: userId, organizationId }, state.human!)) ? user : undefined
}

// Who of an organization has an address, or had it and has not proved another one.
async function idsOfHolders(
  { sql, personal }: Pick<Context, 'sql' | 'personal'>,
  email: string,
  organizationId: string,
  limit: number,
): Promise<string[]> {
  const rows = await orUnavailable(sql<{ userId: string }[]>`
    select distinct user_id as "userId" from login_addresses
    where address = ${addressKey(personal, email)} and organization_id = ${organizationId} limit ${limit}
  `)
  return rows.map(({ userId }) => userId)
}

// Whether it is the present address of a user.
function hasNow({ state: { human } }: LoginUser, email: string): boolean {
  return human !== undefined && sameAddress(human.email, email)
}

/** On the instance, in the user's organization or in a project of it. Another organization could give roles to shut people out. */
export async function hasRole(
  { grants }: Pick<Context, 'grants'>,
  { userId, organizationId }: LoginUser,
  call: Call,
): Promise<boolean> {
  return isAdministrator(
    await grants.listMemberships({ ...membershipsIn(userId, organizationId), withInactive: true }, call),
  )
}
