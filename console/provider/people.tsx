import type { IdpIDP, UsersLinkedUser } from '#gen/console/api'
import { useFilters, useHere } from '../address/place.ts'
import { useRead } from '../api/queries.ts'
import { type Column, List } from '../list/list.tsx'
import { nameOf, StateTag } from '../people/about-person.tsx'
import { words as people } from '../people/words.ts'
import { words as person } from '../person/words.ts'
import { Time } from '../pieces/time.tsx'
import { words } from './words.ts'

/** The people of the organization who are connected with a provider. */
export function People({ provider: { id: idpId = '' } }: { provider: IdpIDP }) {
  const here = useHere()
  const [filters, setFilters] = useFilters()
  const after = filters.get('after') ?? ''
  const query = useRead('roster.users.v1.UserService/SearchIDPLinks', { idpId, limit: 50, cursor: after })
  return (
    <div class="card">
      <List
        label={words.people}
        permission="user.read"
        columns={columns}
        rows={query.data && (query.data.linkedUsers ?? [])}
        keyOf={({ user, link }) => `${user?.userId} ${link?.userId}`}
        hrefOf={({ user }) => here(`/people/${encodeURIComponent(user?.userId ?? '')}/sign-in`)}
        query={query}
        empty={words.nobodyConnected}
        pages={{ next: query.data?.nextCursor ?? '', after, go: (next) => setFilters({ after: next }) }}
      />
    </div>
  )
}

const columns: Column<UsersLinkedUser>[] = [
  { label: people.name, cell: ({ user = {} }) => nameOf(user) },
  { label: people.state, cell: ({ user = {} }) => <StateTag user={user} /> },
  { label: person.there, cell: ({ link }) => link?.userName || <code>{link?.userId}</code> },
  { label: person.since, cell: ({ link }) => <Time at={link?.creationDate} />, wide: true },
]
