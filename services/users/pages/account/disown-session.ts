import type { DisownSessionRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { distrustBrowser } from '../../sessions/browsers/trusted-browser.ts'
import type { Session } from '../../sessions/events/session.ts'
import { endSession, ownerOf } from '../../sessions/sessions.ts'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import { isFirst } from '../../sessions/factors/kinds.ts'
import { checkedFactors } from '../../sessions/login-policy/login-policy.ts'
import type { Section } from './sections.ts'
import { openAccount } from './open-account.ts'

/** Ends a session that somebody else began, and leads to what is to be changed: the present password may be known. */
export async function disownSession(context: Context, request: DisownSessionRequest, call: Call): Promise<PageAnswer> {
  const opened = await openAccount(context, request, 'activity', call)
  if ('answer' in opened) return opened.answer
  const { userId, person, call: own, to } = opened
  const { sessionId } = request
  const session = await context.store.load<Session>('session', sessionId)
  // Where the session is over, its browser may be trusted on.
  const trustId = session?.state.userId === userId ? session.state.trustId : undefined
  await distrustBrowser(context, { userId, sessionId, trustId }, own)
  if (sessionId !== own.caller.sessionId && (await ownerOf(context, sessionId))?.userId === userId)
    await context.store.execute({ ...endSession(sessionId), call: own })
  return to(...remedyOf(session, person))
}

/** What somebody else had to begin the session, and where the person changes that. Of one that is not known, a password is guessed. */
function remedyOf(session: Existing<Session> | undefined, { signedInUser }: Candidate): [Section, string] {
  const { policy, userId } = signedInUser
  const begun = session?.state.userId === userId ? checkedFactors(session.state).filter(isFirst) : []
  if (begun.some(({ kind }) => kind === 'passkey')) return ['passkeys', 'not-me-passkey']
  const isByMail = begun.some(({ kind }) => kind === 'mailed-code') || !policy.factors.includes('password')
  return isByMail ? ['sign-in', 'not-me-mail'] : ['password', 'not-me']
}
