import {
  InvitationState,
  type SearchInvitationsRequest,
  type SearchInvitationsResponse,
} from '#gen/roster/users/v1/invitation_service'
import type { Fragment, Sql } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import { textCondition } from '#lib/search/text-condition'
import type { Context } from '../../context.ts'
import { canonicalAddress } from '../../directory/email/address.ts'
import { type Invitation, invitationType } from '../../directory/events/invitation.ts'
import { type InvitationRow, openRow } from './invitation-rows.ts'
import { showInvitation } from './show-invitation.ts'

export async function searchInvitations(
  context: Context,
  request: SearchInvitationsRequest,
  call: Call,
): Promise<SearchInvitationsResponse> {
  const { sql, keys } = context
  const { rows, nextCursor, total } = await search<Found>(context, {
    method: 'SearchInvitations',
    request,
    call,
    columns: sql`
      i.email, i.user_id as "userId", i.detail, a.id, a.organization_id as "organizationId", a.sequence,
      a.created_at as "createdAt", a.changed_at as "changedAt", a.state, roster_now() as now
    `,
    from: sql`invitations i`,
    shown: sql`join aggregates a on a.type = ${invitationType} and a.id = i.invitation_id`,
    where: sql`i.organization_id = ${call.organizationId} and ${conditions(sql, request)}`,
    order: {
      by: [
        { column: sql`i.created_at`, type: 'timestamptz' },
        { column: sql`i.invitation_id`, type: 'text' },
      ],
      descending: true,
    },
  })
  const invitations = rows.map(({ now, email, userId, detail, ...aggregate }) =>
    showInvitation({ ...aggregate, type: invitationType }, openRow(keys, { email, userId, detail }), now),
  )
  return { invitations, nextCursor, total }
}

interface Found extends InvitationRow {
  id: string
  organizationId: string
  sequence: number
  createdAt: Date
  changedAt: Date
  state: Invitation
  now: Date
}

function conditions(sql: Sql, { state, email, inviterId, userId, appId }: SearchInvitationsRequest): Fragment {
  const column = { exact: sql`i.email`, canonical: sql`i.canonical_email` }
  return sql`
    ${ofState(sql, state)}
    and ${email ? textCondition(sql, column, email.text, email.method, canonicalAddress) : sql`true`}
    and ${inviterId === '' ? sql`true` : sql`i.inviter_id = ${inviterId}`}
    and ${userId === '' ? sql`true` : sql`i.user_id = ${userId} and i.ended is not null`}
    and ${appId === '' ? sql`true` : sql`i.application_id = ${appId}`}
  `
}

function ofState(sql: Sql, state: InvitationState): Fragment {
  switch (state) {
    case InvitationState.INVITATION_STATE_PENDING:
      return sql`i.ended is null and i.expires_at > roster_now()`
    case InvitationState.INVITATION_STATE_EXPIRED:
      return sql`i.ended is null and i.expires_at <= roster_now()`
    case InvitationState.INVITATION_STATE_ACCEPTED:
      return sql`i.ended = 'accepted'`
    case InvitationState.INVITATION_STATE_REVOKED:
      return sql`i.ended = 'revoked'`
    default:
      return sql`true`
  }
}
