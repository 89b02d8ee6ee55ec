import { Link } from 'wouter-preact'
import type { GrantsProject, GrantsProjectState, GrantsSearchProjectsRequest } from '#gen/console/api'
import { useHere, useFilters, useTitle } from '../address/place.ts'
import { useMay, useRead } from '../api/queries.ts'
import { FilterChoice, FilterText } from '../list/filter-text.tsx'
import { type Column, List } from '../list/list.tsx'
import { Time } from '../pieces/time.tsx'
import { ProjectState } from './about-project.tsx'
import { MyProjects } from './my-projects.tsx'
import { words } from './words.ts'

/** The projects that the organization owns; or those of the person, where no role shows all. */
export default function Projects() {
  const mayRead = useMay('project.read')
  if (mayRead === undefined) return null
  return mayRead ? <AllProjects /> : <MyProjects />
}

function AllProjects() {
  useTitle(words.projects)
  const here = useHere()
  const mayAdd = useMay('project.write')
  const [filters, setFilters] = useFilters()
  const get = (name: string) => filters.get(name) ?? ''
  const query = useRead('roster.grants.v1.ProjectService/SearchProjects', requestOf(get))
  const isFiltered = ['q', 'state'].some((name) => get(name) !== '')
  return (
    <>
      <div class="head">
        <h1>{words.projects}</h1>
        <span class="grow" />
        {mayAdd && (
          <Link class="button primary" data-key="n" href={here('/projects/new')}>
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
          <FilterChoice
            label={words.sort}
            value={get('sort')}
            options={{ '': words.newest, name: words.byName }}
            onChange={(sort) => setFilters({ sort })}
          />
        </div>
        <List
          label={words.projects}
          permission="project.read"
          columns={columns}
          rows={query.data && (query.data.projects ?? [])}
          keyOf={({ id = '' }) => id}
          hrefOf={({ id = '' }) => here(`/projects/${encodeURIComponent(id)}`)}
          query={query}
          empty={words.none}
          clear={isFiltered ? () => setFilters({ q: '', state: '' }) : undefined}
          pages={{ next: query.data?.nextCursor ?? '', after: get('after'), go: (after) => setFilters({ after }) }}
        />
      </div>
    </>
  )
}

const columns: Column<GrantsProject>[] = [
  { label: words.name, cell: ({ name }) => name },
  { label: words.state, cell: (project) => <ProjectState project={project} /> },
  { label: words.created, cell: ({ details }) => <Time at={details?.creationDate} />, wide: true },
  { label: words.changed, cell: ({ details }) => <Time at={details?.changeDate} />, wide: true },
]

const stateValues: Record<string, GrantsProjectState> = {
  active: 'PROJECT_STATE_ACTIVE',
  inactive: 'PROJECT_STATE_INACTIVE',
}

// What the address holds is a stranger's text: what it does not name is left out.
function requestOf(get: (name: string) => string): GrantsSearchProjectsRequest {
  const state = stateValues[get('state')]
  const text = get('q').slice(0, 200)
  const isByName = get('sort') === 'name'
  return {
    ...(text && { name: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' } }),
    ...(state && { state }),
    sortingColumn: isByName ? 'PROJECT_FIELD_NAME_NAME' : 'PROJECT_FIELD_NAME_CREATION_DATE',
    descending: !isByName,
    limit: 50,
    cursor: get('after'),
  }
}
