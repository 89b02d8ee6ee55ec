import { Link } from 'wouter-preact'
import type { GrantsProject } from '#gen/console/api'
import { useFilters, useHere } from '../address/place.ts'
import { useMay, useRead } from '../api/queries.ts'
import { applicationColumns } from '../applications/about-application.tsx'
import { List } from '../list/list.tsx'
import { words } from './words.ts'

/** The applications of a project. */
export function Applications({ project: { id: projectId = '' } }: { project: GrantsProject }) {
  const here = useHere()
  const [filters, setFilters] = useFilters()
  const mayAdd = useMay('project.app.write', projectId)
  const after = filters.get('after') ?? ''
  const request = { projectId, limit: 50, cursor: after }
  const query = useRead('roster.grants.v1.ApplicationService/SearchApplications', request)
  const own = `/projects/${encodeURIComponent(projectId)}/applications`
  const add = (
    <Link class="button primary" data-key="n" href={here(`/applications/new?project=${encodeURIComponent(projectId)}`)}>
      {words.addApplication}
    </Link>
  )
  return (
    <div class="card">
      <div class="title">
        <h2>{words.applications}</h2>
        {mayAdd && add}
      </div>
      <List
        label={words.applications}
        permission="project.app.read"
        columns={applicationColumns}
        rows={query.data && (query.data.applications ?? [])}
        keyOf={({ id = '' }) => id}
        hrefOf={({ id = '' }) => here(`${own}/${encodeURIComponent(id)}`)}
        query={query}
        empty={words.noApplications}
        pages={{ next: query.data?.nextCursor ?? '', after, go: (next) => setFilters({ after: next }) }}
      />
    </div>
  )
}
