import { Link } from 'wouter-preact'
import type { NotifierMail, UsersInvitation, UsersInvitationState } from '#gen/console/api'
import { useMay, useRead } from '../api/queries.ts'
import { useFilters, useHere, useTitle } from '../address/place.ts'
import { useNames } from '../history/use-names.ts'
import { FilterChoice, FilterText } from '../list/filter-text.tsx'
import { type Column, List } from '../list/list.tsx'
import { MailState } from '../mails/mail-state.tsx'
import { Time } from '../pieces/time.tsx'
import { common } from '../texts/common.ts'
import { InvitationActions } from './invitation-actions.tsx'
import { InvitedRoles } from './invited-roles.tsx'
import { states, words } from './words.ts'

/** Who was invited, and what became of it. */
export default function Invitations() {
  useTitle(words.invitations)
  const here = useHere()
  const mayAdd = useMay('user.write')
  const [filters, setFilters] = useFilters()
  const get = (name: string) => filters.get(name) ?? ''
  const query = useRead('roster.users.v1.InvitationService/SearchInvitations', requestOf(get))
  const invitations = query.data && (query.data.invitations ?? [])
  const nameOf = useNames((invitations ?? []).map(({ inviterId }) => inviterId))
  const mailOf = useMailsOf(invitations ?? [])
  const columns: Column<UsersInvitation>[] = [
    {
      label: words.email,
      cell: ({ email, inviterId = '' }) => (
        <>
          {email}
          <small class="line-below">
            {words.inviter} {nameOf(inviterId, words.outsider)}
          </small>
        </>
      ),
    },
    {
      label: words.state,
      cell: ({ state = 'INVITATION_STATE_UNSPECIFIED', rolesWithheld }) => (
        <>
          <span class={`tag ${states[state]?.tone ?? ''}`}>{states[state]?.text ?? state}</span>
          {rolesWithheld && <small class="line-below">{words.withheld}</small>}
        </>
      ),
    },
    { label: words.roles, cell: (invitation) => <InvitedRoles invitation={invitation} />, wide: true },
    {
      label: words.mail,
      cell: (invitation) => <MailOf invitation={invitation} mail={mailOf(invitation)} />,
      wide: true,
    },
    { label: words.ends, cell: ({ expirationDate }) => <Time at={expirationDate} />, wide: true },
    { label: common.actions, cell: (invitation) => (mayAdd ? <InvitationActions invitation={invitation} /> : null) },
  ]
  const add = (
    <Link class="button primary" data-key="n" href={here('/invitations/new')}>
      {words.add}
    </Link>
  )
  return (
    <>
      <div class="head">
        <h1>{words.invitations}</h1>
        <span class="grow" />
        {mayAdd && add}
      </div>
      <div class="card">
        <div class="filters">
          <FilterText label={words.find} value={get('q')} onChange={(q) => setFilters({ q })} />
          <FilterChoice
            label={words.state}
            value={get('state')}
            options={stateOptions}
            onChange={(state) => setFilters({ state })}
          />
        </div>
        <List
          label={words.invitations}
          permission="user.read"
          columns={columns}
          rows={invitations}
          keyOf={({ invitationId = '' }) => invitationId}
          query={query}
          empty={words.nobody}
          clear={get('q') || get('state') ? () => setFilters({ q: '', state: '' }) : undefined}
          pages={{ next: query.data?.nextCursor ?? '', after: get('after'), go: (after) => setFilters({ after }) }}
        />
      </div>
    </>
  )
}

function MailOf({ invitation: { isMailed }, mail }: { invitation: UsersInvitation; mail: NotifierMail | undefined }) {
  if (!isMailed) return <span class="soft">{words.noMail}</span>
  return mail ? <MailState mail={mail} /> : null
}

// A mail of an invitation is found by the id of the invitation. The newest is that of its link.
function useMailsOf(invitations: UsersInvitation[]): (invitation: UsersInvitation) => NotifierMail | undefined {
  const userIds = invitations.map(({ invitationId = '' }) => invitationId)
  const { data } = useRead(
    'roster.notifier.v1.MailService/SearchMails',
    { userIds, limit: 500 },
    { enabled: userIds.length > 0 },
  )
  return ({ invitationId }) => data?.mails?.find(({ userId }) => userId === invitationId)
}

const stateOptions = {
  '': words.anyState,
  pending: words.pending,
  accepted: words.accepted,
  expired: words.expired,
  revoked: words.revoked,
}

const stateValues: Record<string, UsersInvitationState> = {
  pending: 'INVITATION_STATE_PENDING',
  accepted: 'INVITATION_STATE_ACCEPTED',
  expired: 'INVITATION_STATE_EXPIRED',
  revoked: 'INVITATION_STATE_REVOKED',
}

// What the address holds is a stranger's text: what it does not name is left out.
function requestOf(get: (name: string) => string) {
  const text = get('q').slice(0, 200)
  const state = stateValues[get('state')]
  return {
    ...(text !== '' && { email: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' as const } }),
    ...(state && { state }),
    limit: 50,
    cursor: get('after'),
  }
}
