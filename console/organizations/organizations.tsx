import { Link } from 'wouter-preact'
import type { GrantsOrganization, GrantsOrganizationState } from '#gen/console/api'
import { useMayEverywhere, useRead } from '../api/queries.ts'
import { useFilters, useTitle } from '../address/place.ts'
import { FilterChoice, FilterText } from '../list/filter-text.tsx'
import { List } from '../list/list.tsx'
import { StateTag } from '../organization/state-tag.tsx'
import { words } from '../organization/words.ts'
import { Time } from '../pieces/time.tsx'

/** Every organization of the instance. */
export default function Organizations() {
  useTitle(words.organizations)
  const mayAdd = useMayEverywhere('org.create')
  const [filters, setFilters] = useFilters()
  const get = (name: string) => filters.get(name) ?? ''
  const query = useRead('roster.grants.v1.OrganizationService/SearchOrganizations', requestOf(get))
  const isFiltered = get('q') !== '' || get('state') !== ''
  return (
    <>
      <div class="head">
        <h1>{words.organizations}</h1>
        <span class="grow" />
        {mayAdd && (
          <Link class="button primary" data-key="n" href="/instance/organizations/new">
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
        <List<GrantsOrganization>
          label={words.organizations}
          permission="org.read"
          rows={query.data && (query.data.organizations ?? [])}
          keyOf={({ id = '' }) => id}
          hrefOf={({ id = '' }) => `/o/${encodeURIComponent(id)}`}
          query={query}
          empty={words.nothing}
          clear={isFiltered ? () => setFilters({ q: '', state: '' }) : undefined}
          pages={{ next: query.data?.nextCursor ?? '', after: get('after'), go: (after) => setFilters({ after }) }}
          columns={[
            {
              label: words.name,
              cell: ({ name, primaryDomain }) => (
                <>
                  {name} <small class="line-below">{primaryDomain}</small>
                </>
              ),
            },
            { label: words.state, cell: (organization) => <StateTag organization={organization} /> },
            { label: words.created, cell: ({ details }) => <Time at={details?.creationDate} />, wide: true },
          ]}
        />
      </div>
    </>
  )
}

const states: Record<string, GrantsOrganizationState> = {
  active: 'ORGANIZATION_STATE_ACTIVE',
  inactive: 'ORGANIZATION_STATE_INACTIVE',
}

// What the address holds is a stranger's text: what it does not name is left out.
function requestOf(get: (name: string) => string) {
  const text = get('q').slice(0, 200)
  const state = states[get('state')]
  return {
    ...(text !== '' && { name: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' as const } }),
    ...(state && { state }),
    descending: true,
    limit: 50,
    cursor: get('after'),
  }
}
