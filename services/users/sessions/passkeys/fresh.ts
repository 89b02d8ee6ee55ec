import { RosterError } from '#lib/errors'
import { readNow } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { User } from '../../directory/events/user.ts'
import type { Session } from '../events/session.ts'
import { freshFor } from '../fresh-for.ts'
import { mailboxAlone, provedMailboxAlone } from '../mailbox-alone.ts'
import { loadPersonPolicy } from '../login-policy/load-person-policy.ts'
import { checkedAt, countingFactors, lastProof, ownFactors } from '../login-policy/login-policy.ts'
import { missingMethods } from '../session-tokens.ts'

/**
 * The caller's own session has a first factor of late, and lacks none: a token that somebody stole adds no passkey.
 * FAILED_PRECONDITION FACTOR_NOT_FRESH, MAILBOX_ALONE.
 */
export async function requireFreshFactor(context: Context, call: Call): Promise<void> {
  const { caller } = call
  const notFresh = new RosterError(
    'FAILED_PRECONDITION',
    'FACTOR_NOT_FRESH',
    'The session of the caller has no first factor that was checked within the last ten minutes.',
  )
  const [session, user, policy, now] = await Promise.all([
    caller.sessionId === '' || caller.authorizationId !== undefined
      ? undefined
      : context.store.load<Session>('session', caller.sessionId),
    context.store.load<User>('user', caller.userId),
    loadPersonPolicy(context, caller, call),
    readNow(context.sql),
  ])
  if (!session || !user || session.state.ended || session.state.userId !== caller.userId) throw notFresh
  const checked = checkedAt(session.state)
  const last = lastProof(countingFactors(policy, ownFactors(user.state.human, policy), checked))
  // A trusted browser stands in for nothing here.
  const { trustId: _, ...proved } = session.state
  const isFresh = last !== undefined && now.getTime() - last.getTime() <= freshFor * 1000
  if (!isFresh || missingMethods(policy, user.state, proved, now).length > 0) throw notFresh
  if (provedMailboxAlone(user.state.human, checked)) throw mailboxAlone()
}
