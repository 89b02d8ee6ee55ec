import type { GrantsMyProject } from '#gen/console/api'
import { useFilters, useHere, useOrganization, useTitle } from '../address/place.ts'
import { useRead } from '../api/queries.ts'
import { FilterText } from '../list/filter-text.tsx'
import { type Column, List } from '../list/list.tsx'
import { memberRoles } from '../project/member-roles.ts'
import { ProjectState } from './about-project.tsx'
import { words } from './words.ts'

/** The projects of the organization in which the person has a role, without one in the organization. */
export function MyProjects() {
  useTitle(words.projects)
  const here = useHere()
  const organizationId = useOrganization()
  const [filters, setFilters] = useFilters()
  const get = (name: string) => filters.get(name) ?? ''
  const text = get('q').slice(0, 200)
  const query = useRead('roster.grants.v1.ProjectService/SearchMyProjects', {
    ...(text && { name: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' } }),
    organizationId,
    limit: 50,
    cursor: get('after'),
  })
  return (
    <>
      <div class="head">
        <h1>{words.projects}</h1>
      </div>
      <div class="card">
        <div class="filters">
          <FilterText label={words.find} value={get('q')} onChange={(q) => setFilters({ q })} />
        </div>
        <List
          label={words.projects}
          permission="project.read"
          columns={columns}
          rows={query.data && (query.data.projects ?? [])}
          keyOf={({ projectId = '' }) => projectId}
          hrefOf={({ projectId = '' }) => here(`/projects/${encodeURIComponent(projectId)}`)}
          query={query}
          empty={words.noneOfMine}
          clear={text ? () => setFilters({ q: '' }) : undefined}
          pages={{ next: query.data?.nextCursor ?? '', after: get('after'), go: (after) => setFilters({ after }) }}
        />
      </div>
    </>
  )
}

const columns: Column<GrantsMyProject>[] = [
  { label: words.name, cell: ({ name }) => name },
  { label: words.state, cell: (project) => <ProjectState project={project} /> },
  { label: words.myRoles, cell: ({ roles }) => (roles ?? []).map((role) => memberRoles[role] ?? role).join(', ') },
]
