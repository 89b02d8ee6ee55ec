import { canonicalName } from '#lib/search/canonical-name'
import { each } from '../each.ts'
import type { Target } from './target.ts'

const conditions = 40

/** Those names that users of an organization of Roster have, in their canonical form, each with the id of its user. */
export async function takenNames(
  target: Target,
  organization: string,
  items: { name: string }[],
): Promise<Map<string, string>> {
  const taken = new Map<string, string>()
  const parts: { name: string }[][] = []
  for (let at = 0; at < items.length; at += conditions) parts.push(items.slice(at, at + conditions))
  await each(parts, async (part) => {
    const queries = part.map(({ name }) => ({
      userNameQuery: { userName: name, method: 'TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE' },
    }))
    const request = { queries: [{ orQuery: { queries } }], limit: conditions }
    const { users = [] } = await target.ask('POST', '/v2/users/_search', request, organization)
    for (const { userName, userId } of users) taken.set(canonicalName(userName), userId)
  })
  return taken
}
