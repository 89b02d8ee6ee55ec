import type { LookupUsersRequest, LookupUsersResponse } from '#gen/roster/users/v1/internal_service'
import { evenUnreadable } from '#lib/eventstore/aggregate'
import type { Context } from '../context.ts'
import type { User } from '../directory/events/user.ts'

export async function lookupUsers({ store }: Context, { userIds }: LookupUsersRequest): Promise<LookupUsersResponse> {
  // Loads of one moment share a statement.
  const users = await Promise.all(userIds.map((userId) => evenUnreadable(store.load<User>('user', userId))))
  return {
    users: users.flatMap((user) =>
      user && !user.state?.removed ? [{ userId: user.id, organizationId: user.organizationId }] : [],
    ),
  }
}
