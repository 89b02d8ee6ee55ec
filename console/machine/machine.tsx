import { useRead } from '../api/queries.ts'
import { decode, useHere, useTitle, type ViewProps } from '../address/place.ts'
import { words } from '../machines/words.ts'
import { nameOf, StateTag } from '../people/about-person.tsx'
import { Access } from '../person/access.tsx'
import { Actions } from '../person/actions.tsx'
import { PersonHistory } from '../person/person-history.tsx'
import { Forbidden, isForbidden, Problem } from '../pieces/problem.tsx'
import { Tabs } from '../pieces/tabs.tsx'
import { Credentials } from './credentials.tsx'
import { Settings } from './settings.tsx'

const tabs = { '': words.credentials, settings: words.settings, access: words.access, history: words.history }

/** One machine. */
export default function Machine({ params: { id = '', tab = '' } }: ViewProps) {
  const here = useHere()
  const userId = decode(id)
  const query = useRead('roster.users.v1.UserService/GetUser', { userId }, { fresh: true })
  const user = query.data?.user
  useTitle(user ? nameOf(user) : '')
  if (isForbidden(query.error)) return <Forbidden permission="user.read" />
  if (query.error && !user) return <Problem error={query.error} retry={() => void query.refetch()} />
  if (!user) return <div class="head ghost" aria-hidden="true" />
  return (
    <>
      <div class="head">
        <div>
          <h1>{nameOf(user)}</h1>
          <small>
            {user.userName} · <StateTag user={user} />
          </small>
        </div>
        <span class="grow" />
        <Actions user={user} />
      </div>
      <Tabs label={words.tabs} path={here(`/machines/${id}`)} tabs={tabs} tab={tab} />
      {tab === 'settings' ? (
        <Settings key={userId} user={user} />
      ) : tab === 'access' ? (
        <Access user={user} />
      ) : tab === 'history' ? (
        <PersonHistory userId={userId} />
      ) : (
        <Credentials userId={userId} />
      )}
    </>
  )
}
