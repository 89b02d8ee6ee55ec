import { useRead } from '../api/queries.ts'
import { History } from '../history/history.tsx'
import { Pager } from '../list/pager.tsx'
import { useFilters } from '../address/place.ts'
import { words } from './words.ts'

/** What happened to a person, the newest first. */
export function PersonHistory({ userId }: { userId: string }) {
  const [filters, setFilters] = useFilters()
  const after = filters.get('after') ?? ''
  const query = useRead('roster.users.v1.UserService/ListUserChanges', { userId, limit: 50, cursor: after })
  const changes = query.data && (query.data.changes ?? [])
  return (
    <div class="card">
      <History events={changes} query={query} permission="user.read" empty={words.noHistory} />
      {changes && (
        <Pager next={query.data?.nextCursor ?? ''} after={after} go={(next) => setFilters({ after: next })} />
      )}
    </div>
  )
}
