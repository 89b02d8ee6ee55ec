import type { GetUserRequest, GetUserResponse } from '#gen/roster/users/v1/user_service'
import type { Context } from '../../../context.ts'
import { showUser } from '../../search/show-user.ts'
import type { User } from '../../events/user.ts'
import { userNotFound } from '../../events/user-not-found.ts'

export async function getUser({ store }: Context, { userId }: GetUserRequest): Promise<GetUserResponse> {
  const user = await store.load<User>('user', userId)
  if (!user) throw userNotFound()
  return { user: showUser(user) }
}
