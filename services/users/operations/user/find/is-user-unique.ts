import { UserState } from '#gen/roster/users/v1/user'
import type { IsUserUniqueRequest, IsUserUniqueResponse } from '#gen/roster/users/v1/user_service'
import { orUnavailable } from '#lib/eventstore/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { canonicalAddress } from '../../../email/address.ts'
import { userNameKey } from '../../../new-user.ts'
import { checkUserName } from '../../../user-name.ts'

export const isUserUnique = {
  check: (_context: Context, { userName, email }: IsUserUniqueRequest) =>
    userName === '' && email === ''
      ? [{ field: 'userName', description: 'this or email must be given' }]
      : checkUserName(userName),

  async handle(
    { sql, personal }: Context,
    { userName, email }: IsUserUniqueRequest,
    { organizationId }: Call,
  ): Promise<IsUserUniqueResponse> {
    const { kind, scope, key } = userNameKey(organizationId, userName)
    const forms = userName === '' ? [] : personal.formsToFind(kind, key)
    // A user without an address has an empty one, which nobody asks for here.
    const [row] = await orUnavailable(sql<[{ isUnique: boolean }]>`
      select not exists (
        select from unique_keys where kind = ${kind} and scope = ${scope} and key = any(${forms}::text[])
      ) and not exists (
        select from found_addresses e join found_users u using (user_id)
        where e.organization_id = ${organizationId} and e.email = ${canonicalAddress(email)} and e.email <> ''
          and u.state = ${UserState.USER_STATE_ACTIVE}
      ) as "isUnique"
    `)
    return row
  },
}
