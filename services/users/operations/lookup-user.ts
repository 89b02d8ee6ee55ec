import type { LookupUserRequest, LookupUserResponse } from '#gen/roster/users/v1/internal_service'
import type { Context } from '../context.ts'
import { userNotFound } from '../vocabulary.ts'

export async function lookupUser({ store }: Context, { userId }: LookupUserRequest): Promise<LookupUserResponse> {
  const user = await store.load('user', userId)
  if (!user) throw userNotFound()
  return { organizationId: user.organizationId }
}
