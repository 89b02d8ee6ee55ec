import type { SearchUserGrantsRequest } from '#gen/roster/grants/v1/user_grant_service'
import type { SearchQuery } from '#gen/roster/users/v1/user_search'

/** The filters that users decides about, because it has the names. */
export function userQueries(request: SearchUserGrantsRequest): SearchQuery[] {
  const { userId, userName, firstName, lastName, displayName, email } = request
  const queries: (SearchQuery['query'] | undefined)[] = [
    userName && { $case: 'userNameQuery', value: { userName: userName.text, method: userName.method } },
    firstName && { $case: 'firstNameQuery', value: { firstName: firstName.text, method: firstName.method } },
    lastName && { $case: 'lastNameQuery', value: { lastName: lastName.text, method: lastName.method } },
    displayName && { $case: 'displayNameQuery', value: { displayName: displayName.text, method: displayName.method } },
    email && { $case: 'emailQuery', value: { emailAddress: email.text, method: email.method } },
  ]
  const given = queries.flatMap((query) => (query ? [{ query }] : []))
  if (given.length === 0 || userId === '') return given
  return [...given, { query: { $case: 'inUserIdsQuery', value: { userIds: [userId] } } }]
}
