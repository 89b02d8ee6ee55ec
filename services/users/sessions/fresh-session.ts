import { RosterError } from '#lib/errors'
import type { ServiceCall } from '#lib/rpc/call'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import type { User } from '../directory/events/user.ts'
import type { Session } from './events/session.ts'
import { freshFor } from './fresh-for.ts'
import { factorKinds } from './factors/kinds.ts'
import { loadPersonPolicy } from './login-policy/load-person-policy.ts'
import { checkedAt, checkedFactors, countingFactors, lastProof, ownFactors } from './login-policy/login-policy.ts'
import { markOfLink, type MarkOfLink } from './mark-of-link.ts'
import { mailboxAlone, provedMailboxAlone } from './mailbox-alone.ts'
import { missingMethods } from './session-tokens.ts'

/** What a person's session proves who changes the own second factors. */
export interface OwnSession {
  hasSecond: boolean
  mark: MarkOfLink
}

/**
 * The session by which people change their own second factors: it lacks none, and its first factor was checked of late, or a
 * stolen token would be enough. A token that a person let an application have is none. Undefined where the caller is another user.
 * FAILED_PRECONDITION FACTOR_NOT_FRESH, MAILBOX_ALONE.
 */
export async function requireFreshSession(
  context: Pick<Context, 'config' | 'store' | 'sql' | 'grants'>,
  userId: string,
  call: Pick<Call, 'caller'> & ServiceCall,
): Promise<OwnSession | undefined> {
  const { caller } = call
  if (caller.userId !== userId) return undefined
  const isOwn = caller.sessionId !== '' && caller.authorizationId === undefined
  const [session, user, policy] = isOwn
    ? await Promise.all([
        context.store.load<Session>('session', caller.sessionId),
        context.store.load<User>('user', userId),
        loadPersonPolicy(context, caller, call),
      ])
    : []
  const factors = session ? checkedFactors(session.state) : []
  const last =
    session &&
    user &&
    lastProof(countingFactors(policy!, ownFactors(user.state.human, policy!), checkedAt(session.state)))
  const isFresh = last !== undefined && last.getTime() >= session!.readAt.getTime() - freshFor * 1000
  const isOver = !isFresh || session!.state.ended || session!.state.userId !== userId
  // A gateway may have known the token before a factor was added. A trusted browser stands in for nothing here.
  const { trustId: _, ...proved } = session?.state ?? ({} as Session)
  if (isOver || !user || missingMethods(policy!, user.state, proved, session!.readAt).length > 0)
    throw new RosterError(
      'FAILED_PRECONDITION',
      'FACTOR_NOT_FRESH',
      'Your own second factors are changed with a session whose password was checked within the last ten minutes.',
    )
  if (factors.some(({ kind }) => kind === 'mailed-code') && provedMailboxAlone(user.state.human, factors))
    throw mailboxAlone()
  const mark = markOfLink(user.state.human, checkedAt(session!.state), session!.readAt)
  return { hasSecond: factors.some(({ kind }) => factorKinds[kind].second !== undefined), mark }
}
