import type { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import type { Write } from '#lib/database/database'
import type { Guard } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { outlives } from '../directory/events/sign-outs.ts'
import type { User } from '../directory/events/user.ts'
import { noteBrowser } from './browsers/known-browsers.ts'
import { keepSession, sessionsOf } from './browsers/browser-sessions.ts'
import { type Browser, renewValue, renewValueFor } from './browsers/session-cookie.ts'
import { Superseded } from './browsers/superseded.ts'
import type { Session } from './events/session.ts'
import type { ProvedFactor } from './factors/factor.ts'
import { isFirst, secondFactors } from './factors/kinds.ts'
import { recordFactor } from './record-factor.ts'

/** What is stored with a session, and what must hold then. */
export interface Along {
  writes(session: { sessionId: string; userId: string }): Write[]
  guards: Guard[]
  /** The client id of the application that the user signs in to. */
  clientId?: string | undefined
  /** The person wants to stay signed in. */
  keep?: boolean
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
  const { sql, store, keys } = context
  const { userId } = factor.user
  const opens = isFirst({ kind: factor.kind, ...factor.check })
  // By a second factor the value is a random one: who saw the former value and knows the password gets no session with both.
  const { newValue, writes, guard } = opens ? renewValueFor(keys, browser, userId) : renewValue(browser)
  const known = (await sessionsOf(sql, { ...browser, isPresent: true }, '')).find(
    (session) => session.userId === userId,
  )
  const [found, user] = await Promise.all([
    known && store.load<Session>('session', known.sessionId),
    store.load<User>('user', userId),
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
      gone: new Superseded(),
      writes: (session) => [...keepSession(browser, userId, session.sessionId), ...writes, ...along.writes(session)],
      guards: [guard, ...along.guards],
    },
    call,
  )
  // A session that goes on in its browser is none of another one.
  if (!goesOn || !opens) await noteLater(context, factor.user, browser, missingFactors)
  return { newValue, sessionId, missingFactors }
}

// Of one that still lacks a factor nothing is told. A failure is logged alone: the person is signed in.
async function noteLater(
  context: Context,
  user: ProvedFactor['user'],
  { id }: Browser,
  missing: readonly unknown[],
): Promise<void> {
  if (missing.length > 0) return
  await noteBrowser(context, user, id).catch((err: unknown) => context.log.warn({ err }, 'work after a sign-in failed'))
}
