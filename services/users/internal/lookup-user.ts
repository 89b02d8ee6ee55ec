import type { LookupUserRequest, LookupUserResponse } from '#gen/roster/users/v1/internal_service'
import { evenUnreadable } from '#lib/eventstore/aggregate'
import type { Context } from '../context.ts'
import type { User } from '../directory/events/user.ts'
import { userNotFound } from '../directory/events/user-not-found.ts'

export async function lookupUser({ store }: Context, { userId }: LookupUserRequest): Promise<LookupUserResponse> {
  const user = await evenUnreadable(store.load<User>('user', userId))
  if (!user || user.state?.removed) throw userNotFound()
  return { organizationId: user.organizationId }
}
