import { useEffect } from 'preact/hooks'
import { Link } from 'wouter-preact'
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

function useSteps(): Step[] {
  const mayInvite = useMay('user.write') === true
  const invitations = useRead(
    'roster.users.v1.InvitationService/SearchInvitations',
    { limit: 1 },
    { enabled: mayInvite },
  )
  const people = useRead(
    'roster.users.v1.UserService/SearchUsers',
    { queries: [{ typeQuery: { type: 'TYPE_HUMAN' } }], limit: 2 },
    { enabled: mayInvite },
  )
  const isKnown = invitations.data !== undefined && people.data !== undefined
  const count = (invitations.data?.invitations ?? []).length + (people.data?.users ?? []).slice(1).length
  const invite: Step = {
    isDone: isKnown ? count > 0 : undefined,
    title: words.invite,
    text: words.inviteText,
    action: words.inviteDo,
    path: '/invitations/new',
  }
  return [invite]
}
