import { UserState } from '#gen/roster/users/v1/user'
import type { IsUserUniqueRequest, IsUserUniqueResponse } from '#gen/roster/users/v1/user_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { canonicalAddress } from '../../email/address.ts'
import { userNameKey } from '../../new-user.ts'

export const isUserUnique = {
  check: (_context: Context, { userName, email }: IsUserUniqueRequest) =>
    userName === '' && email === '' ? [{ field: 'userName', description: 'this or email must be given' }] : [],

  async handle(
    { sql, personal }: Context,
    { userName, email }: IsUserUniqueRequest,
    { organizationId }: Call,
  ): Promise<IsUserUniqueResponse> {
    const { kind, scope, key } = userNameKey(organizationId, userName)
    // No user has an empty name, and no one asks here for the empty address of a user without one.
    const [row] = await orUnavailable(sql<[{ isUnique: boolean }]>`
      select not exists (
        select from unique_keys where kind = ${kind} and scope = ${scope} and key = ${personal.storedKey(kind, key)}
      ) and not exists (
        select from found_addresses e join found_users u using (user_id)
        where e.organization_id = ${organizationId} and e.email = ${canonicalAddress(email)} and e.email <> ''
          and u.state = ${UserState.USER_STATE_ACTIVE}
      ) as "isUnique"
    `)
    return row
  },
}
