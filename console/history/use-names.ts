import { useMayEverywhere, useRead } from '../api/queries.ts'

/**
 * The names of users by their ids, as far as the caller may read them: those of the organization, or of all. `unknown` stands
 * for one that the caller may not read, else the id does.
 */
export function useNames(ids: (string | undefined)[]): (id: string, unknown?: string) => string {
  const userIds = [...new Set(ids.filter((id): id is string => Boolean(id)))].sort()
  const everywhere = useMayEverywhere('user.read')
  const { data, isFetching, isPlaceholderData } = useRead(
    'roster.users.v1.UserService/SearchUsers',
    {
      queries: [{ inUserIdsQuery: { userIds } }],
      limit: Math.max(userIds.length, 1),
      ...(everywhere && { allOrganizations: true }),
    },
    { enabled: userIds.length > 0 && everywhere !== undefined },
  )
  const names = new Map(
    (data?.users ?? []).map(({ userId = '', userName = '', human, machine }) => [
      userId,
      human?.profile?.displayName || machine?.name || userName,
    ]),
  )
  const isComing = isFetching && (!data || isPlaceholderData)
  return (id, unknown) => names.get(id) ?? (unknown === undefined ? id : isComing ? '' : unknown)
}
