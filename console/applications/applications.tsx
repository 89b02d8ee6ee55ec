import { Link } from 'wouter-preact'
import type { GrantsApplication, GrantsApplicationState, GrantsSearchApplicationsRequest } from '#gen/console/api'
import { useFilters, useHere, useTitle } from '../address/place.ts'
import { useMay, useRead } from '../api/queries.ts'
import { useProjectNames } from '../history/use-project-names.ts'
import { FilterChoice, FilterText } from '../list/filter-text.tsx'
import { type Column, List } from '../list/list.tsx'
import { Time } from '../pieces/time.tsx'
import { ApplicationState, kindOf } from './about-application.tsx'
import { words } from './words.ts'

/** The applications of all projects that the organization owns. */
export default function Applications() {
  useTitle(words.applications)
  const here = useHere()
  const mayAdd = useMay('project.app.write')
  const [filters, setFilters] = useFilters()
  const get = (name: string) => filters.get(name) ?? ''
  const query = useRead('roster.grants.v1.ApplicationService/SearchApplications', requestOf(get))
  const rows = query.data && (query.data.applications ?? [])
  const projectName = useProjectNames((rows ?? []).map(({ projectId = '' }) => projectId))
  const isFiltered = get('q') !== '' || get('state') !== ''
  const add = (
    <Link class="button primary" data-key="n" href={here('/applications/new')}>
      {words.add}
    </Link>
  )
  const columns: Column<GrantsApplication>[] = [
    {
      label: words.name,
      cell: (application) => (
        <>
          {application.name}
          <small class="below">{projectName(application.projectId ?? '')}</small>
        </>
      ),
    },
    { label: words.project, cell: ({ projectId = '' }) => projectName(projectId), wide: true },
    { label: words.kind, cell: kindOf, wide: true },
    { label: words.state, cell: (application) => <ApplicationState application={application} /> },
    { label: words.changed, cell: ({ details }) => <Time at={details?.changeDate} />, wide: true },
  ]
  return (
    <>
      <div class="head">
        <h1>{words.applications}</h1>
        <span class="grow" />
        {mayAdd && add}
      </div>
      <div class="card">
        <div class="filters">
          <FilterText label={words.find} value={get('q')} onChange={(q) => setFilters({ q })} />
          <FilterChoice
            label={words.state}
            value={get('state')}
            options={{ '': words.anyState, open: words.active, closed: words.inactive }}
            onChange={(state) => setFilters({ state })}
          />
        </div>
        <List
          label={words.applications}
          permission="project.app.read"
          columns={columns}
          rows={rows}
          keyOf={({ id = '' }) => id}
          hrefOf={({ id = '', projectId = '' }) =>
            here(`/projects/${encodeURIComponent(projectId)}/applications/${encodeURIComponent(id)}`)
          }
          query={query}
          empty={words.none}
          clear={isFiltered ? () => setFilters({ q: '', state: '' }) : undefined}
          pages={{ next: query.data?.nextCursor ?? '', after: get('after'), go: (after) => setFilters({ after }) }}
        />
      </div>
    </>
  )
}

const stateValues: Record<string, GrantsApplicationState> = {
  open: 'APPLICATION_STATE_ACTIVE',
  closed: 'APPLICATION_STATE_INACTIVE',
}

// What the address holds is a stranger's text: what it does not name is left out.
function requestOf(get: (name: string) => string): GrantsSearchApplicationsRequest {
  const state = stateValues[get('state')]
  const text = get('q').slice(0, 200)
  return {
    ...(text && { name: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' } }),
    ...(state && { state }),
    limit: 50,
    cursor: get('after'),
  }
}
