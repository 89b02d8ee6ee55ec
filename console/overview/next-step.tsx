import { useQueries } from '@tanstack/preact-query'
import { useEffect } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { call } from '../api/call.ts'
import { useMay, useRead } from '../api/queries.ts'
import { useHere, useOrganization } from '../address/place.ts'
import { words } from './words.ts'

interface Step {
  /** Undefined while it is not known, or where the person may not read it. */
  isDone: boolean | undefined
  title: string
  text: string
  action: string
  path: string
}

/** What to do next in a new organization. What happened ticks a step, not who pressed a button. */
export function NextStep() {
  const here = useHere()
  const mark = `roster-console-begun:${useOrganization()}`
  const steps = useSteps()
  const next = steps.find(({ isDone }) => isDone === false)
  const isKnown = steps.every(({ isDone }) => isDone !== undefined)
  useEffect(() => {
    if (isKnown && !next) localStorage.setItem(mark, '1')
  }, [isKnown, next === undefined])
  // Its place is kept free, so that nothing moves; but not where all was done when one was here last.
  if (!isKnown) return localStorage.getItem(mark) ? null : <div class="card next ghost" aria-hidden="true" />
  if (!next) return null
  // Signing in was the first one.
  const done = 1 + steps.filter(({ isDone }) => isDone).length
  return (
    <div class="card next">
      <span class="dots" role="img" aria-label={words.done(done, steps.length + 1)}>
        {[true, ...steps.map(({ isDone }) => isDone)].map((isDone) => (isDone ? '✓ ' : '○ '))}
      </span>
      <div class="grow">
        <h2>{next.title}</h2>
        <small>{next.text}</small>
      </div>
      <Link class="button primary" href={here(next.path)}>
        {next.action}
      </Link>
    </div>
  )
}

// Of organizations with many applications some are enough: this is for those that begin.
const mostAsked = 5

// Only steps that the person may take.
function useSteps(): Step[] {
  const [invite, application] = [useInvite(), useApplication()]
  return [invite, ...application].filter((step) => step !== undefined)
}

function useInvite(): Step | undefined {
  const mayInvite = useMay('user.write')
  const options = { enabled: mayInvite === true }
  const invitations = useRead('roster.users.v1.InvitationService/SearchInvitations', { limit: 1 }, options)
  const people = useRead(
    'roster.users.v1.UserService/SearchUsers',
    { queries: [{ typeQuery: { type: 'TYPE_HUMAN' } }], limit: 2 },
    options,
  )
  if (mayInvite === false) return undefined
  const isKnown = invitations.data !== undefined && people.data !== undefined
  const count = (invitations.data?.invitations ?? []).length + (people.data?.users ?? []).slice(1).length
  return {
    isDone: isKnown ? count > 0 : undefined,
    title: words.invite,
    text: words.inviteText,
    action: words.inviteDo,
    path: '/invitations/new',
  }
}

function useApplication(): Step[] {
  const organization = useOrganization()
  const mayAdd = useMay('project.app.write')
  const maySee = useMay('user.read')
  const { data } = useRead(
    'roster.grants.v1.ApplicationService/SearchApplications',
    { limit: mostAsked },
    { enabled: mayAdd === true },
  )
  const ids = maySee ? (data?.applications ?? []).map(({ id = '' }) => id) : []
  const method = 'roster.users.v1.SessionService/SearchSignIns'
  const signIns = useQueries({
    queries: ids.map((applicationId) => ({
      queryKey: [organization, method, { applicationId, limit: 1 }],
      queryFn: () => call(method, { applicationId, limit: 1 }, { organization }),
    })),
  })
  if (mayAdd === false) return []
  const isAdded = data && (data.applications ?? []).length > 0
  const isSeen = signIns.some((query) => query.data?.signIns?.length)
  const isKnown = isSeen || (data !== undefined && signIns.every((query) => query.data))
  const add = {
    isDone: isAdded,
    title: words.application,
    text: words.applicationText,
    action: words.applicationDo,
    path: '/applications/new',
  }
  const see = {
    isDone: isKnown ? isSeen : undefined,
    title: words.signIn,
    text: words.signInText,
    action: words.signInDo,
    path: `/applications/${encodeURIComponent(ids[0] ?? '')}`,
  }
  return maySee === false ? [add] : [add, see]
}
