import type { GrantsProject } from '#gen/console/api'
import { useFilters } from '../address/place.ts'
import { useRead } from '../api/queries.ts'
import { History } from '../history/history.tsx'
import { Pager } from '../list/pager.tsx'
import { words } from './words.ts'

/** What happened to a project and its roles, the newest first. */
export function ProjectHistory({ project: { id = '' } }: { project: GrantsProject }) {
  const [filters, setFilters] = useFilters()
  const after = filters.get('after') ?? ''
  const query = useRead('roster.grants.v1.ProjectService/ListProjectChanges', {
    projectId: id,
    limit: 50,
    cursor: after,
  })
  const changes = query.data && (query.data.changes ?? [])
  return (
    <div class="card">
      <History events={changes} query={query} permission="project.read" empty={words.noHistory} />
      {changes && (
        <Pager next={query.data?.nextCursor ?? ''} after={after} go={(next) => setFilters({ after: next })} />
      )}
    </div>
  )
}
