import { useRead } from '../api/queries.ts'

/** The names of users by their ids, as far as the organization has them and the caller may read them. */
export function useNames(ids: (string | undefined)[]): (id: string) => string {
  const userIds = [...new Set(ids.filter((id): id is string => Boolean(id)))].sort()
  const { data } = useRead(
    'roster.users.v1.UserService/SearchUsers',
    { queries: [{ inUserIdsQuery: { userIds } }], limit: Math.max(userIds.length, 1) },
    { enabled: userIds.length > 0 },
  )
  const names = new Map(
    (data?.users ?? []).map(({ userId = '', userName = '', human }) => [
      userId,
      human?.profile?.displayName || userName,
    ]),
  )
  return (id) => names.get(id) ?? id
}
