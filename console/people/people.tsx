import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { UsersSearchQuery, UsersUser } from '#gen/console/api'
import { readAhead, useMay, useRead } from '../api/queries.ts'
import { FilterChoice, FilterText } from '../list/filter-text.tsx'
import { type Column, List } from '../list/list.tsx'
import { Avatar } from '../pieces/avatar.tsx'
import { Time } from '../pieces/time.tsx'
import { useFilters, useHere, useTitle } from '../address/place.ts'
import { factorsOf, nameOf, StateTag } from './about-person.tsx'
import { Bulk } from './bulk.tsx'
import { ExportPeople } from './export-people.tsx'
import { peopleFound } from './find-people.ts'
import { chosenState, stateOptions } from './state-filter.ts'
import { words } from './words.ts'

const method = 'roster.users.v1.UserService/SearchUsers'
const mostChosen = 1000

export const readFirst = (organization: string, filters: URLSearchParams) =>
  readAhead(organization, method, requestOf(filters))

/** The people of the organization. */
export default function People() {
  useTitle(words.people)
  const here = useHere()
  const mayAdd = useMay('user.write')
  const [filters, setFilters] = useFilters()
  const get = (name: string) => filters.get(name) ?? ''
  const request = requestOf(filters)
  const query = useRead(method, request)
  const [chosen, setChosen] = useState<ReadonlyMap<string, UsersUser>>(new Map())
  // More than a thousand at a time is a program's work.
  const choose = (next: typeof chosen) => setChosen(new Map([...next].slice(0, mostChosen)))
  const isFiltered = ['q', 'state', 'second'].some((name) => get(name) !== '')
  const add = (
    <Link class="button primary" data-key="n" href={here('/people/new')}>
      {words.add}
    </Link>
  )
  return (
    <>
      <div class="head">
        <h1>{words.people}</h1>
        <span class="grow" />
        <ExportPeople request={request} />
        {mayAdd && add}
      </div>
      <div class="card">
        <div class="filters">
          <FilterText label={words.find} value={get('q')} onChange={(q) => setFilters({ q })} />
          <FilterChoice
            label={words.state}
            value={get('state')}
            options={stateOptions}
            onChange={(state) => setFilters({ state })}
          />
          <FilterChoice
            label={words.factors}
            value={get('second')}
            options={secondOptions}
            onChange={(second) => setFilters({ second })}
          />
          <FilterChoice
            label={words.sort}
            value={get('sort')}
            options={sortOptions}
            onChange={(sort) => setFilters({ sort })}
          />
        </div>
        {chosen.size > 0 && <Bulk users={[...chosen.values()]} clear={() => choose(new Map())} />}
        <List
          label={words.people}
          permission="user.read"
          columns={columns}
          rows={query.data && (query.data.users ?? [])}
          keyOf={(user) => user.userId ?? ''}
          hrefOf={(user) => here(`/people/${encodeURIComponent(user.userId ?? '')}`)}
          query={query}
          empty={words.nobody}
          choice={mayAdd ? { chosen, set: choose, nameOf } : undefined}
          clear={isFiltered ? () => setFilters({ q: '', state: '', second: '' }) : undefined}
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
      <span class="who">
        <Avatar name={nameOf(user)} />
        <span>
          {nameOf(user)}
          <small>{user.human?.email?.email}</small>
          <small class="below">
            {factorsOf(user)} · <Time at={user.lastSignInDate} />
          </small>
        </span>
      </span>
    ),
  },
  { label: words.state, cell: (user) => <StateTag withFactors user={user} /> },
  { label: words.factors, cell: factorsOf, wide: true },
  { label: words.lastSignIn, cell: (user) => <Time at={user.lastSignInDate} />, wide: true },
  { label: words.created, cell: (user) => <Time at={user.details?.creationDate} />, wide: true },
]

const secondOptions = { '': words.anyFactor, none: words.noSecond, some: words.withSecond }
const sortOptions = { '': words.newest, name: words.byName }

// What the address holds is a stranger's text: what it does not name is left out.
function requestOf(filters: URLSearchParams) {
  const get = (name: string) => filters.get(name) ?? ''
  const second: UsersSearchQuery = { secondFactorQuery: {} }
  const queries: UsersSearchQuery[] = [
    ...chosenState(get('state')),
    ...(get('second') === 'some' ? [second] : []),
    ...(get('second') === 'none' ? [{ notQuery: { query: second } }] : []),
  ]
  const isByName = get('sort') === 'name'
  return peopleFound(get('q').slice(0, 200), {
    queries,
    sortingColumn: isByName ? 'USER_FIELD_NAME_DISPLAY_NAME' : 'USER_FIELD_NAME_CREATION_DATE',
    descending: !isByName,
    limit: 50,
    cursor: get('after'),
    withFactors: true,
    withLastSignIn: true,
  })
}
