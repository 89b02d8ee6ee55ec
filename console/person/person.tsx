import { Link } from 'wouter-preact'
import type { UsersUser } from '#gen/console/api'
import { useRead } from '../api/queries.ts'
import { Avatar } from '../pieces/avatar.tsx'
import { Forbidden, isForbidden, Problem } from '../pieces/problem.tsx'
import { nameOf, StateTag } from '../people/about-person.tsx'
import { decode, useHere, useTitle, type ViewProps } from '../address/place.ts'
import { Access } from './access.tsx'
import { Actions } from './actions.tsx'
import { PersonHistory } from './person-history.tsx'
import { Profile } from './profile.tsx'
import { SignIn } from './sign-in.tsx'
import { signInOf } from './sign-in-of.ts'
import { words } from './words.ts'

const tabs = { '': words.profile, access: words.access, 'sign-in': words.signIn, history: words.history }

/** One person. */
export default function Person({ params: { id = '', tab = '' } }: ViewProps) {
  const userId = decode(id)
  const query = useRead('roster.users.v1.UserService/GetUser', { userId }, { fresh: true })
  const user = query.data?.user
  const found = useSignInOf(userId)
  useTitle(user ? nameOf(user) : '')
  if (isForbidden(query.error)) return <Forbidden permission="user.read" />
  if (query.error && !user) return <Problem error={query.error} retry={() => void query.refetch()} />
  if (!user) return <div class="head ghost" aria-hidden="true" />
  return (
    <>
      <div class="head">
        <Avatar large name={nameOf(user)} />
        <div>
          <h1>{nameOf(user)}</h1>
          <small>
            {user.human?.email?.email} · <StateTag withFactors={found !== undefined} user={{ ...user, ...found }} />
          </small>
        </div>
        <span class="grow" />
        <Actions user={user} />
      </div>
      <Tabs id={id} tab={tab} />
      <Tab key={`${userId} ${tab}`} user={user} tab={tab} />
    </>
  )
}

/** Factors and last sign-in of a person: the tab of sign-in asks the same. */
function useSignInOf(userId: string) {
  const { data } = useRead('roster.users.v1.UserService/SearchUsers', signInOf(userId), { fresh: true })
  const { factors = [], lastSignInDate = '' } = data?.users?.[0] ?? {}
  return data && { factors, lastSignInDate }
}

function Tabs({ id, tab }: { id: string; tab: string }) {
  const here = useHere()
  return (
    <nav class="tabs" aria-label={words.tabs}>
      {Object.entries(tabs).map(([path, label]) => (
        <Link
          key={path}
          href={here(`/people/${id}${path && `/${path}`}`)}
          aria-current={path === tab ? 'page' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}

function Tab({ user, tab }: { user: UsersUser; tab: string }) {
  if (tab === 'access') return <Access user={user} />
  if (tab === 'sign-in') return <SignIn user={user} />
  if (tab === 'history') return <PersonHistory userId={user.userId ?? ''} />
  return <Profile user={user} />
}
