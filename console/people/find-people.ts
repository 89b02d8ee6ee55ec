import type { UsersSearchQuery, UsersSearchUsersRequest } from '#gen/console/api'

const method = 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE'

/** The request that finds people by a part of their name, address or user name. */
export function peopleFound(text: string, more: UsersSearchUsersRequest = {}): UsersSearchUsersRequest {
  const found: UsersSearchQuery = {
    orQuery: {
      queries: [
        { displayNameQuery: { displayName: text, method } },
        { emailQuery: { emailAddress: text, method } },
        { userNameQuery: { userName: text, method } },
      ],
    },
  }
  return {
    ...more,
    queries: [{ typeQuery: { type: 'TYPE_HUMAN' } }, ...(text === '' ? [] : [found]), ...(more.queries ?? [])],
  }
}
