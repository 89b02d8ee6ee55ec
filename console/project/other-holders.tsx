import { useState } from 'preact/hooks'
import type { GrantsRoleHolder } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { useRead } from '../api/queries.ts'
import { List } from '../list/list.tsx'
import { accessWords as t } from './access-words.ts'

/** Who has a role by a grant of another organization. The owner of the project sees their ids. */
export function OtherHolders({ projectId, roleKey }: { projectId: string; roleKey: string }) {
  const own = useOrganization()
  const [after, setAfter] = useState('')
  const request = { projectId, roleKey, limit: 50, cursor: after }
  const query = useRead('roster.grants.v1.ProjectService/SearchRoleHolders', request)
  const others = query.data?.holders?.filter(({ organizationId }) => organizationId !== own) ?? []
  const next = query.data?.nextCursor ?? ''
  if (others.length === 0 && next === '' && after === '') return null
  return (
    <div class="card">
      <div class="title">
        <h2>{t.holders(roleKey)}</h2>
      </div>
      <List<GrantsRoleHolder>
        label={t.holders(roleKey)}
        permission="user.grant.read"
        rows={query.data && others}
        keyOf={({ grantId = '', userId = '' }) => `${grantId} ${userId}`}
        query={query}
        empty={t.nobody}
        columns={[
          { label: t.person, cell: ({ userId }) => <code>{userId}</code> },
          { label: t.organization, cell: ({ organizationId }) => <code>{organizationId}</code> },
        ]}
        pages={{ next, after, go: setAfter }}
      />
    </div>
  )
}
