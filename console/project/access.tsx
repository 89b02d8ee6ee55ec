import { lazy, Suspense } from 'preact/compat'
import { useState } from 'preact/hooks'
import type { GrantsProject, GrantsSearchUserGrantsRequest } from '#gen/console/api'
import { useFilters } from '../address/place.ts'
import { useMay, useRead } from '../api/queries.ts'
import { useNames } from '../history/use-names.ts'
import { FilterChoice, FilterText } from '../list/filter-text.tsx'
import { Pager } from '../list/pager.tsx'
import { Forbidden, isForbidden, Problem, Quiet } from '../pieces/problem.tsx'
import { common } from '../texts/common.ts'
import { accessWords as t } from './access-words.ts'
import { usePeople } from '../people/pick-person.ts'
import { Matrix } from './matrix.tsx'
import { OtherHolders } from './other-holders.tsx'
import { words } from './words.ts'

const Picker = lazy(() => import('../form/picker.tsx'))
/** As many roles as fit beside each other. */
const columns = 8

/** Who of the organization has which role of the project: a page of people, and a page of roles. */
export function Access({ project: { id: projectId = '' } }: { project: GrantsProject }) {
  const [filters, setFilters] = useFilters()
  const get = (name: string) => filters.get(name) ?? ''
  const mayWrite = useMay('user.grant.write', projectId) === true
  // Somebody who has no role yet, and is about to get one.
  const [guests, setGuests] = useState<{ id: string; label: string }[]>([])
  const [at, setAt] = useState(0)
  const roles = useRead('roster.grants.v1.ProjectService/SearchProjectRoles', { projectId, limit: 200 })
  const query = useRead('roster.grants.v1.UserGrantService/SearchUserGrants', requestOf(projectId, get))
  const grants = (query.data?.userGrants ?? []).filter(({ projectGrantId }) => !projectGrantId)
  const found = useNames(grants.map(({ userId }) => userId))
  const nameOf = (id: string) => guests.find((guest) => guest.id === id)?.label ?? found(id)
  const keys = (roles.data?.roles ?? []).map(({ key = '' }) => key)
  const shownKeys = get('role') ? [get('role')] : keys.slice(at, at + columns)
  if (isForbidden(query.error)) return <Forbidden permission="user.grant.read" />
  const isFiltered = get('q') !== '' || get('role') !== ''
  const rows = [
    ...guests.filter(({ id }) => !grants.some(({ userId }) => userId === id)).map(({ id }) => ({ userId: id })),
    ...grants,
  ]
  const noRoles = roles.data && keys.length === 0
  return (
    <div class="stack">
      <div class="card">
        <div class="title">
          <h2>{words.access}</h2>
          {keys.length > columns && !get('role') && (
            <span class="acts">
              <small>{t.rolesFrom(at + 1, Math.min(at + columns, keys.length))}</small>
              <button aria-label={t.previousRoles} disabled={at === 0} onClick={() => setAt(at - columns)}>
                ‹
              </button>
              <button
                aria-label={t.nextRoles}
                disabled={at + columns >= keys.length}
                onClick={() => setAt(at + columns)}
              >
                ›
              </button>
            </span>
          )}
        </div>
        <div class="filters">
          <FilterText label={t.find} value={get('q')} onChange={(q) => setFilters({ q })} />
          <FilterChoice
            label={t.role}
            value={get('role')}
            options={{ '': t.anyRole, ...Object.fromEntries(keys.map((key) => [key, key])) }}
            onChange={(role) => setFilters({ role })}
          />
          {mayWrite && !noRoles && (
            <Suspense fallback={null}>
              <Picker
                label={t.give}
                placeholder={t.give}
                inside
                useOptions={usePeople}
                onPick={({ id, label }) => setGuests([{ id, label }, ...guests.filter((guest) => guest.id !== id)])}
              />
            </Suspense>
          )}
        </div>
        {query.error && <Problem error={query.error} retry={() => void query.refetch()} />}
        {noRoles ? (
          <Quiet>{t.noRoles}</Quiet>
        ) : query.data && rows.length === 0 ? (
          isFiltered ? (
            <Quiet action={<button onClick={() => setFilters({ q: '', role: '' })}>{common.clearFilters}</button>}>
              {common.nothingMatches}
            </Quiet>
          ) : (
            <Quiet>{t.nobody}</Quiet>
          )
        ) : (
          <Matrix
            projectId={projectId}
            rows={rows}
            keys={shownKeys}
            nameOf={nameOf}
            mayWrite={mayWrite}
            isOld={query.isPlaceholderData}
            onGone={(id) => setGuests([{ id, label: nameOf(id) }, ...guests.filter((guest) => guest.id !== id)])}
          />
        )}
        {query.data && (
          <Pager next={query.data.nextCursor ?? ''} after={get('after')} go={(after) => setFilters({ after })} />
        )}
      </div>
      {get('role') && <OtherHolders projectId={projectId} roleKey={get('role')} />}
    </div>
  )
}

// What the address holds is a stranger's text.
function requestOf(projectId: string, get: (name: string) => string): GrantsSearchUserGrantsRequest {
  const text = get('q').slice(0, 200)
  const roleKey = get('role').slice(0, 200)
  return {
    projectId,
    ...(roleKey && { roleKey }),
    ...(text && { displayName: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' } }),
    limit: 50,
    cursor: get('after'),
  }
}
