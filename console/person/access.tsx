import type { GrantsMember, GrantsUserGrant, UsersUser } from '#gen/console/api'
import { useQueries } from '@tanstack/preact-query'
import { call } from '../api/call.ts'
import { useRead } from '../api/queries.ts'
import { List } from '../list/list.tsx'
import { Time } from '../pieces/time.tsx'
import { useOrganization } from '../address/place.ts'
import { words } from './words.ts'

/** What the person may do: roles in projects, and memberships. */
export function Access({ user }: { user: UsersUser }) {
  const { userId = '' } = user
  const grants = useRead('roster.grants.v1.UserGrantService/SearchUserGrants', { userId, limit: 50 })
  const members = useRead('roster.grants.v1.OrganizationService/SearchOrganizationMembers', { userId })
  const projectName = useProjectNames((grants.data?.userGrants ?? []).map(({ projectId = '' }) => projectId))
  return (
    <div class="stack">
      <div class="card">
        <div class="title">
          <h2>{words.grants}</h2>
        </div>
        <List<GrantsUserGrant>
          label={words.grants}
          permission="user.grant.read"
          rows={grants.data && (grants.data.userGrants ?? [])}
          keyOf={({ id = '' }) => id}
          query={grants}
          empty={words.noGrants}
          columns={[
            { label: words.project, cell: ({ projectId = '' }) => projectName(projectId) },
            { label: words.roles, cell: ({ roleKeys }) => <Roles keys={roleKeys} /> },
            { label: words.since, cell: ({ details }) => <Time at={details?.creationDate} />, wide: true },
          ]}
        />
      </div>
      <div class="card">
        <div class="title">
          <h2>{words.memberships}</h2>
        </div>
        <List<GrantsMember>
          label={words.memberships}
          permission="org.member.read"
          rows={members.data && (members.data.members ?? [])}
          keyOf={({ userId = '' }) => userId}
          query={members}
          empty={words.noMembership}
          columns={[
            { label: words.roles, cell: ({ roles }) => <Roles keys={roles} /> },
            { label: words.since, cell: ({ details }) => <Time at={details?.creationDate} />, wide: true },
          ]}
        />
      </div>
    </div>
  )
}

function Roles({ keys = [] }: { keys: string[] | undefined }) {
  return (
    <>
      {keys.map((key) => (
        <>
          <span class="tag">{key}</span>{' '}
        </>
      ))}
    </>
  )
}

// A grant has the id of its project alone. Who may not read the project sees the id.
function useProjectNames(ids: string[]) {
  const organization = useOrganization()
  const unique = [...new Set(ids)].sort()
  const found = useQueries({
    queries: unique.map((projectId) => ({
      queryKey: [organization, 'roster.grants.v1.ProjectService/GetProject', { projectId }],
      queryFn: () => call('roster.grants.v1.ProjectService/GetProject', { projectId }, { organization }),
    })),
  })
  const names = new Map(unique.map((id, index) => [id, found[index]?.data?.project?.name]))
  return (id: string) => names.get(id) ?? id
}
