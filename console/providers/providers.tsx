import { Link } from 'wouter-preact'
import type { IdpIDP, IdpIDPState, IdpSearchIDPsRequest } from '#gen/console/api'
import { useFilters, useTitle } from '../address/place.ts'
import { useRead } from '../api/queries.ts'
import { FilterChoice, FilterText } from '../list/filter-text.tsx'
import { type Column, List } from '../list/list.tsx'
import { OnPage, ProviderState } from './about-provider.tsx'
import { kindNames, kindOf } from './kinds.ts'
import { useMayThere, usePaths, usePlace } from './place.ts'
import { useListed } from './use-listed.ts'
import { words } from './words.ts'

/** The identity providers of the organization, or of the instance. */
export default function Providers() {
  useTitle(words.providers)
  const place = usePlace()
  const path = usePaths()
  const mayAdd = useMayThere('write')
  const listed = useListed()
  const [filters, setFilters] = useFilters()
  const get = (name: string) => filters.get(name) ?? ''
  const query = useRead(place.search, requestOf(get))
  const rows = query.data && (query.data.idps ?? [])
  const isFiltered = get('q') !== '' || get('state') !== ''
  const columns: Column<IdpIDP>[] = [
    {
      label: words.name,
      cell: (provider) => (
        <>
          {provider.name}
          <small class="below">{kindNames[kindOf(provider)]}</small>
        </>
      ),
    },
    { label: words.kind, cell: (provider) => <span class="whole">{kindNames[kindOf(provider)]}</span>, wide: true },
    { label: words.state, cell: (provider) => <ProviderState provider={provider} /> },
    ...(listed ? [{ label: words.onPage, cell: ({ id }: IdpIDP) => <OnPage id={id} listed={listed} /> }] : []),
    {
      label: words.newPeople,
      cell: ({ autoRegister }) => <span class="whole">{autoRegister ? words.makesUsers : words.makesNobody}</span>,
      wide: true,
    },
  ]
  return (
    <>
      <div class="head">
        <h1>{words.providers}</h1>
        <span class="grow" />
        {mayAdd && (
          <Link class="button primary" data-key="n" href={path('/new')}>
            {words.add}
          </Link>
        )}
      </div>
      <div class="card">
        <div class="filters">
          <FilterText label={words.find} value={get('q')} onChange={(q) => setFilters({ q })} />
          <FilterChoice
            label={words.state}
            value={get('state')}
            options={{ '': words.anyState, active: words.active, inactive: words.inactive }}
            onChange={(state) => setFilters({ state })}
          />
        </div>
        <List
          label={words.providers}
          permission={place.permissions.read}
          columns={columns}
          rows={rows}
          keyOf={({ id = '' }) => id}
          hrefOf={({ id = '' }) => path(`/${encodeURIComponent(id)}`)}
          query={query}
          empty={words.none}
          clear={isFiltered ? () => setFilters({ q: '', state: '' }) : undefined}
          pages={{ next: query.data?.nextCursor ?? '', after: get('after'), go: (after) => setFilters({ after }) }}
        />
      </div>
      {listed && rows && !isFiltered && !query.data?.nextCursor && get('after') === '' && (
        <Others count={listed.shown.filter((id) => !rows.some((row) => row.id === id)).length} />
      )}
    </>
  )
}

/** What the page shows beside those of the list. */
function Others({ count }: { count: number }) {
  return count === 0 ? null : <p class="soft beside">{words.others(count)}</p>
}

const states: Record<string, IdpIDPState> = { active: 'IDP_STATE_ACTIVE', inactive: 'IDP_STATE_INACTIVE' }

// What the address holds is a stranger's text: what it does not name is left out.
function requestOf(get: (name: string) => string): IdpSearchIDPsRequest {
  const name = get('q').slice(0, 200)
  const state = states[get('state')]
  return {
    ...(name && { name, nameMethod: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' }),
    ...(state && { state }),
    limit: 50,
    cursor: get('after'),
  }
}
