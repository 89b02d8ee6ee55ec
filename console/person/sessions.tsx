import { useState } from 'preact/hooks'
import type { UsersSession, UsersSignInClient } from '#gen/console/api'
import { write } from '../api/call.ts'
import { readAgain, useMay, useRead } from '../api/queries.ts'
import { List } from '../list/list.tsx'
import { Confirm } from '../pieces/confirm.tsx'
import { say } from '../pieces/notices.tsx'
import { Time } from '../pieces/time.tsx'
import { useOrganization } from '../address/place.ts'
import { words } from './words.ts'

/** The sessions of a person, and the way to end them. */
export function Sessions({ userId }: { userId: string }) {
  const [isAsked, setAsked] = useState(false)
  const organization = useOrganization()
  const mayEnd = useMay('session.delete')
  const query = useRead('roster.users.v1.SessionService/SearchUserSessions', { userId, limit: 50 })
  const sessions = query.data && (query.data.sessions ?? [])
  const endAll = async () => {
    await write('roster.users.v1.SessionService/DeleteUserSessions', { userId }, { organization })
    await readAgain()
    say(words.ended)
  }
  return (
    <div class="card">
      <div class="title">
        <h2>{words.sessions}</h2>
        {mayEnd && sessions && sessions.length > 0 && (
          <button class="danger" onClick={() => setAsked(true)}>
            {words.endAll}
          </button>
        )}
      </div>
      <List<UsersSession>
        label={words.sessions}
        permission="session.read"
        rows={sessions}
        keyOf={({ id = '' }) => id}
        query={query}
        empty={words.noSessions}
        columns={[
          { label: words.from, cell: ({ lastSignIn }) => whereOf(lastSignIn?.client) },
          { label: words.began, cell: ({ creationDate }) => <Time at={creationDate} /> },
          { label: words.ends, cell: ({ expirationDate }) => <Time at={expirationDate} />, wide: true },
        ]}
      />
      {isAsked && (
        <Confirm title={words.endAll} action={words.endAll} act={endAll} onClose={() => setAsked(false)}>
          {words.endAllText}
        </Confirm>
      )}
    </div>
  )
}

export function whereOf(client: UsersSignInClient | undefined): string {
  const { browser, system, address } = client ?? {}
  return [browser, system, address].filter(Boolean).join(', ')
}
