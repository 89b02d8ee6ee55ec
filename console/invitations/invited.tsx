import type { UsersInvitation } from '#gen/console/api'
import { useRead } from '../api/queries.ts'
import { useNames } from '../history/use-names.ts'
import { List } from '../list/list.tsx'
import { Time } from '../pieces/time.tsx'
import { InvitedRoles } from './invited-roles.tsx'
import { words } from './words.ts'

/** The invitations by which a person came. Without one there is nothing to show. */
export function Invited({ userId }: { userId: string }) {
  const query = useRead('roster.users.v1.InvitationService/SearchInvitations', { userId, limit: 10 })
  const invitations = query.data?.invitations ?? []
  const nameOf = useNames(invitations.map(({ inviterId }) => inviterId))
  if (invitations.length === 0 && !query.error) return null
  return (
    <div class="card">
      <div class="title">
        <h2>{words.came}</h2>
      </div>
      <List<UsersInvitation>
        label={words.came}
        permission="user.read"
        rows={invitations}
        keyOf={({ invitationId = '' }) => invitationId}
        query={query}
        empty=""
        columns={[
          { label: words.inviter, cell: ({ inviterId = '' }) => nameOf(inviterId, words.outsider) },
          {
            label: words.roles,
            cell: (invitation) => (
              <>
                <InvitedRoles invitation={invitation} />
                {invitation.rolesWithheld && <small class="line-below">{words.withheld}</small>}
              </>
            ),
          },
          { label: words.accepted, cell: ({ details }) => <Time at={details?.changeDate} />, wide: true },
        ]}
      />
    </div>
  )
}
