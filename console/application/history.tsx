import type { GrantsApplication } from '#gen/console/api'
import { useFilters } from '../address/place.ts'
import { useRead } from '../api/queries.ts'
import { History } from '../history/history.tsx'
import { Pager } from '../list/pager.tsx'
import { words } from './words.ts'

/** What happened to an application, the newest first. */
export function ApplicationHistory({ application: { id = '', projectId = '' } }: { application: GrantsApplication }) {
  const [filters, setFilters] = useFilters()
  const after = filters.get('after') ?? ''
  const method = 'roster.grants.v1.ApplicationService/ListApplicationChanges'
  const query = useRead(method, { projectId, appId: id, limit: 50, cursor: after })
  const changes = query.data && (query.data.changes ?? [])
  return (
    <div class="card">
      <History events={changes} query={query} permission="project.app.read" empty={words.noHistory} />
      {changes && (
        <Pager next={query.data?.nextCursor ?? ''} after={after} go={(next) => setFilters({ after: next })} />
      )}
    </div>
  )
}
