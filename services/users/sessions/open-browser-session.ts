import type { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import type { Write } from '#lib/database/database'
import type { Guard } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { outlives } from '../directory/events/sign-outs.ts'
import type { User } from '../directory/events/user.ts'
import { noteBrowser } from './browsers/known-browsers.ts'
import { keepSession } from './browsers/browser-sessions.ts'
import { type Browser, renewValue, renewValueFor } from './browsers/session-cookie.ts'
import { Superseded } from './browsers/superseded.ts'
import type { Session } from './events/session.ts'
import type { ProvedFactor } from './factors/factor.ts'
import { isFirst, secondFactors } from './factors/kinds.ts'
import { type NewSession, recordFactor, type Target } from './record-factor.ts'

/** What is stored with a session, and what must hold then. */
export interface Along {
  writes(session: NewSession): Write[]
  guards: Guard[]
  /** Reads what the writes depend on, together with what the session does. */
  prepare?: (() => Promise<NonNullable<Target['known']>>) | undefined
  /** The client id of the application that the user signs in to. */
  clientId?: string | undefined
  /** The person wants to stay signed in. */
  keep?: boolean
  /** The cookie by which the browser is known to be trusted. */
  trust?: string
}

/**
 * Gives a browser a session of a user with a factor. If it has one, that goes on, with a further check. Returns the new
 * value of its cookie. UNAUTHENTICATED CREDENTIALS_INVALID where the user may no longer sign in. Throws `Superseded` where
 * the browser has another value meanwhile, unless a first factor of this user replaced it, and the session has no second one.
 */
export async function openBrowserSession(
  context: Context,
  factor: ProvedFactor,
  browser: Browser,
  along: Along,
  call: Pick<Call, 'requestId' | 'deadline'> & Partial<Call>,
): Promise<{ newValue: string; sessionId: string; missingFactors: AuthenticationMethodType[] }> {
  const { store, keys } = context
  const { userId } = factor.user
  const opens = isFirst({ kind: factor.kind, ...factor.check })
  // By a second factor the value is a random one: who saw the former value and knows the password gets no session with both.
  const { newValue, writes, guard } = opens ? renewValueFor(keys, browser, userId) : renewValue(browser)
  const known = browser.sessions.find((session) => session.userId === userId)
  const [found, user, prepared] = await Promise.all([
    known && store.load<Session>('session', known.sessionId),
    store.load<User>('user', userId),
    along.prepare?.(),
  ])
  // The row of the sign-in may be one of the former release, which did not count.
  const goesOn = found && !found.state.ended && outlives(user?.state, found.id, found.state.signOuts ?? 0)
  if (!goesOn && !opens) throw new Superseded()
  // Who saw the former value and knows the password would get both factors.
  const hasSecond = goesOn && found.state.factors?.some(({ kind }) => secondFactors.includes(kind))
  // A passkey that opens a session is both.
  if (!browser.isPresent && hasSecond && !factor.check?.userVerified) throw new Superseded()
  const { sessionId, missingFactors } = await recordFactor(
    context,
    factor,
    {
      session: goesOn ? found : undefined,
      browserId: browser.id,
      clientId: along.clientId,
      keep: along.keep,
      trust: along.trust,
      gone: new Superseded(),
      known: prepared,
      writes: (session) => [keepSession(browser, userId, session.sessionId), ...writes, ...along.writes(session)],
      guards: [guard, ...along.guards],
    },
    call,
  )
  // A session that goes on in its browser is none of another one. Of one that still lacks a factor nothing is told.
  if ((!goesOn || !opens) && missingFactors.length === 0)
    context.afterResponse.run(userId, () => noteBrowser(context, factor.user, browser.id))
  return { newValue, sessionId, missingFactors }
}
