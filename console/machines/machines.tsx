import { Link } from 'wouter-preact'
import type { UsersSearchUsersRequest, UsersUser } from '#gen/console/api'
import { useMay, useRead } from '../api/queries.ts'
import { useFilters, useHere, useTitle } from '../address/place.ts'
import { FilterChoice, FilterText } from '../list/filter-text.tsx'
import { type Column, List } from '../list/list.tsx'
import { nameOf, StateTag } from '../people/about-person.tsx'
import { chosenState, stateOptions } from '../people/state-filter.ts'
import { words as people } from '../people/words.ts'
import { Time } from '../pieces/time.tsx'
import { words } from './words.ts'

/** The machines of the organization. */
export default function Machines() {
  useTitle(words.machines)
  const here = useHere()
  const mayAdd = useMay('user.write')
  const [filters, setFilters] = useFilters()
  const get = (name: string) => filters.get(name) ?? ''
  const query = useRead('roster.users.v1.UserService/SearchUsers', requestOf(get))
  return (
    <>
      <div class="head">
        <h1>{words.machines}</h1>
        <span class="grow" />
        {mayAdd && (
          <Link class="button primary" data-key="n" href={here('/machines/new')}>
            {words.add}
          </Link>
        )}
      </div>
      <div class="card">
        <div class="filters">
          <FilterText label={words.find} value={get('q')} onChange={(q) => setFilters({ q })} />
          <FilterChoice
            label={people.state}
            value={get('state')}
            options={stateOptions}
            onChange={(state) => setFilters({ state })}
          />
        </div>
        <List
          label={words.machines}
          permission="user.read"
          columns={columns}
          rows={query.data && (query.data.users ?? [])}
          keyOf={({ userId = '' }) => userId}
          hrefOf={({ userId = '' }) => here(`/machines/${encodeURIComponent(userId)}`)}
          query={query}
          empty={words.nobody}
          clear={get('q') || get('state') ? () => setFilters({ q: '', state: '' }) : undefined}
          pages={{ next: query.data?.nextCursor ?? '', after: get('after'), go: (after) => setFilters({ after }) }}
        />
      </div>
    </>
  )
}

const columns: Column<UsersUser>[] = [
  {
    label: words.name,
    cell: (user) => (
      <>
        {user.machine?.name || nameOf(user)}
        <small class="line-below">{user.userName}</small>
      </>
    ),
  },
  { label: people.state, cell: (user) => <StateTag user={user} /> },
  { label: words.description, cell: ({ machine }) => machine?.description, wide: true },
  { label: words.created, cell: ({ details }) => <Time at={details?.creationDate} />, wide: true },
]

function requestOf(get: (name: string) => string): UsersSearchUsersRequest {
  const userName = get('q').slice(0, 200)
  const method = 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE'
  return {
    queries: [
      { typeQuery: { type: 'TYPE_MACHINE' } },
      ...(userName ? [{ userNameQuery: { userName, method } as const }] : []),
      ...chosenState(get('state')),
    ],
    sortingColumn: 'USER_FIELD_NAME_CREATION_DATE',
    descending: true,
    limit: 50,
    cursor: get('after'),
  }
}
