import { Link } from 'wouter-preact'
import type { UsersSignInFailuresOfUser } from '#gen/console/api'
import { useRead } from '../api/queries.ts'
import { useFilters, useHere } from '../address/place.ts'
import { useNames } from '../history/use-names.ts'
import { List } from '../list/list.tsx'
import { Avatar } from '../pieces/avatar.tsx'
import { language } from '../texts/texts.ts'
import { sayExactly } from '../texts/times.ts'
import { sayFailure } from './say-sign-in.ts'
import { words } from './words.ts'

interface FailuresListProps {
  userId?: string
  every?: number | undefined
  clear?: (() => void) | undefined
}

/** Sign-ins that failed: a row for each hour, person and cause. */
export function FailuresList({ userId = '', every, clear }: FailuresListProps) {
  const here = useHere()
  const [filters, setFilters] = useFilters()
  const after = filters.get('after') ?? ''
  const query = useRead(
    'roster.users.v1.SessionService/SearchSignInFailures',
    { userId, limit: 50, cursor: after },
    { every: after === '' ? every : undefined },
  )
  const rows = query.data && (query.data.failures ?? [])
  const nameOf = useNames((rows ?? []).map((row) => row.userId))
  return (
    <List<UsersSignInFailuresOfUser>
      label={words.failed}
      permission="user.read"
      rows={rows}
      keyOf={({ userId, failures }) => `${userId} ${failures?.hour} ${failures?.cause}`}
      query={query}
      readAt={query.dataUpdatedAt}
      empty={words.noFailure}
      clear={clear}
      pages={{ next: query.data?.nextCursor ?? '', after, go: (after) => setFilters({ after }) }}
      columns={[
        {
          label: words.who,
          cell: ({ userId = '', failures }) => (
            <Link class="who" href={here(`/people/${encodeURIComponent(userId)}/sign-in`)}>
              <Avatar name={nameOf(userId)} />
              <span>
                {nameOf(userId)}
                <small class="below">
                  <Hour at={failures?.hour} />
                </small>
              </span>
            </Link>
          ),
        },
        { label: words.why, cell: ({ failures }) => <span class="word">{sayFailure(failures?.cause)}</span> },
        { label: words.count, cell: ({ failures }) => failures?.count ?? 0 },
        { label: words.hour, cell: ({ failures }) => <Hour at={failures?.hour} />, wide: true },
        {
          label: words.explain,
          cell: ({ userId = '' }) => (
            <Link class="word" href={here(`/explain?person=${encodeURIComponent(userId)}`)}>
              {words.explain}
            </Link>
          ),
          wide: true,
        },
      ]}
    />
  )
}

const hours = new Intl.DateTimeFormat(language, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

/** Which hour it was, and not how long ago it began. */
function Hour({ at = '' }: { at: string | undefined }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={sayExactly(date)}>
      {hours.format(date)}
    </time>
  )
}
