import type { UsersSignInOfUser } from '#gen/console/api'
import { useRead } from '../api/queries.ts'
import { useFilters, useHere } from '../address/place.ts'
import { useNames } from '../history/use-names.ts'
import { List } from '../list/list.tsx'
import { Avatar } from '../pieces/avatar.tsx'
import { Time } from '../pieces/time.tsx'
import { sayClient, sayFactors } from './say-sign-in.ts'
import { words } from './words.ts'

interface SignInsListProps {
  userId?: string
  applicationId?: string
  empty: string
  /** Reads again after so many milliseconds. */
  every?: number | undefined
  clear?: (() => void) | undefined
}

/** Sign-ins of people of the organization, the newest first. The page is in the address. */
export function SignInsList({ userId = '', applicationId = '', empty, every, clear }: SignInsListProps) {
  const here = useHere()
  const [filters, setFilters] = useFilters()
  const after = filters.get('after') ?? ''
  const query = useRead(
    'roster.users.v1.SessionService/SearchSignIns',
    { userId, applicationId, limit: 50, cursor: after },
    // Nothing new comes on a later page.
    { every: after === '' ? every : undefined },
  )
  const rows = query.data && (query.data.signIns ?? [])
  const nameOf = useNames((rows ?? []).map((row) => row.userId))
  return (
    <List<UsersSignInOfUser>
      label={words.signIns}
      permission="user.read"
      rows={rows}
      keyOf={({ userId, signIn }) => `${userId} ${signIn?.id}`}
      hrefOf={({ userId = '' }) => here(`/people/${encodeURIComponent(userId)}/sign-in`)}
      query={query}
      readAt={query.dataUpdatedAt}
      empty={empty}
      clear={clear}
      pages={{ next: query.data?.nextCursor ?? '', after, go: (after) => setFilters({ after }) }}
      columns={[
        {
          label: words.who,
          cell: ({ userId = '', signIn }) => (
            <span class="who">
              <Avatar name={nameOf(userId)} />
              <span>
                {nameOf(userId)}
                <small class="below">
                  {signIn?.applicationName || words.program} · {sayClient(signIn?.client)}
                </small>
              </span>
            </span>
          ),
        },
        { label: words.to, cell: ({ signIn }) => signIn?.applicationName || words.program, wide: true },
        { label: words.from, cell: ({ signIn }) => sayClient(signIn?.client), wide: true },
        {
          label: words.how,
          cell: ({ signIn }) => (
            <span class="word">
              {sayFactors(signIn?.factors, signIn?.idpName)}
              {signIn?.isPartial && <small> {words.partial}</small>}
            </span>
          ),
        },
        { label: words.when, cell: ({ signIn }) => <Time at={signIn?.signInDate} /> },
      ]}
    />
  )
}
