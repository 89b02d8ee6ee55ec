import type { Answer, Target } from './target.ts'

/** The users of Roster with these ids, at most a thousand, in any organization. */
export async function findUsers(target: Target, userIds: string[]): Promise<Map<string, Answer>> {
  if (userIds.length === 0) return new Map()
  const request = { queries: [{ inUserIdsQuery: { userIds } }], allOrganizations: true, limit: 1000 }
  const found = new Map<string, Answer>()
  for (let cursor = ''; ;) {
    const { users = [], nextCursor = '' } = await target.ask('POST', '/v2/users/_search', { ...request, cursor })
    for (const user of users) found.set(user.userId, user)
    if (nextCursor === '') return found
    cursor = nextCursor
  }
}
