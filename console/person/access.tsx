import type { GrantsMember, GrantsUserGrant, UsersUser } from '#gen/console/api'
import { useRead } from '../api/queries.ts'
import { useProjectNames } from '../history/use-project-names.ts'
import { List } from '../list/list.tsx'
import { Time } from '../pieces/time.tsx'
import { sayRole } from '../texts/roles.ts'
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
            { label: words.roles, cell: ({ roles = [] }) => <Roles keys={roles.map(sayRole)} /> },
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
