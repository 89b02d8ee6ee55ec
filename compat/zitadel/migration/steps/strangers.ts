import { findUsers } from '../roster/find-users.ts'
import type { Migration } from '../ours.ts'

const most = 500

/**
 * Those of the users that must get nothing here, each with the reason: only the user that was moved gets what it had.
 * Another user of Roster may have the id.
 */
export async function findStrangers(migration: Migration, ids: string[]): Promise<Map<string, string>> {
  const strangers = new Map<string, string>()
  const distinct = [...new Set(ids)]
  for (let at = 0; at < distinct.length; at += most) {
    const part = distinct.slice(at, at + most)
    const [users, found] = await Promise.all([migration.source.usersById(part), findUsers(migration.target, part)])
    const known = new Map(users.map((user) => [user.userId, user]))
    for (const id of part) {
      const why = whyStrange(migration, known.get(id), found.get(id))
      if (why !== undefined) strangers.set(id, why)
    }
  }
  return strangers
}

function whyStrange(
  { organizations, dry }: Migration,
  user: { username: string; details?: { resourceOwner: string } } | undefined,
  found: { userName: string; organizationId: string } | undefined,
): string | undefined {
  if (!user) return 'ZITADEL shows no such user'
  const owner = user.details?.resourceOwner ?? ''
  if (!organizations.has(owner)) return 'the organization of the user is not moved'
  if (!found) return dry ? undefined : 'the user was not moved'
  const isSame = found.organizationId === owner && found.userName === user.username
  return isSame ? undefined : 'another user of Roster has the id of the user, or the user has a new name'
}
