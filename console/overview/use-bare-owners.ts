import { useMay, useRead } from '../api/queries.ts'
import { nameOf } from '../people/about-person.tsx'
import type { Needs } from './need.ts'
import { words } from './words.ts'

const most = 5

/** Owners of the organization without a second factor. */
export function useBareOwners(): Needs {
  const mayMembers = useMay('org.member.read')
  const mayPeople = useMay('user.read')
  const mayRead = mayMembers === undefined ? undefined : mayMembers && mayPeople === true
  const members = useRead(
    'roster.grants.v1.OrganizationService/SearchOrganizationMembers',
    { role: 'ORG_OWNER', limit: 100 },
    { enabled: mayRead === true },
  )
  const userIds = (members.data?.members ?? []).map(({ userId = '' }) => userId)
  const people = useRead(
    'roster.users.v1.UserService/SearchUsers',
    {
      queries: [
        { inUserIdsQuery: { userIds } },
        { typeQuery: { type: 'TYPE_HUMAN' } },
        { notQuery: { query: { secondFactorQuery: {} } } },
      ],
      limit: most + 1,
    },
    { enabled: userIds.length > 0 },
  )
  const found = members.data && (userIds.length === 0 ? [] : people.data && (people.data.users ?? []))
  const shown = found?.slice(0, most).map((user) => ({
    key: `owner ${user.userId}`,
    text: words.owner(nameOf(user)),
    path: `/people/${encodeURIComponent(user.userId ?? '')}/sign-in`,
  }))
  const more = { key: 'more owners', text: words.moreOwners, path: '/organization/members?role=ORG_OWNER' }
  const needs = shown && (found!.length > most ? [...shown, more] : shown)
  return { mayRead, needs, error: members.error ?? people.error }
}
