import type { UsersSearchUsersRequest } from '#gen/console/api'

/** The request for a person's factors and last sign-in, which GetUser does not show. */
export function signInOf(userId: string): UsersSearchUsersRequest {
  return { queries: [{ inUserIdsQuery: { userIds: [userId] } }], withFactors: true, withLastSignIn: true }
}
