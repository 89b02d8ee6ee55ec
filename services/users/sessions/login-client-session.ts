import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Existing } from '#lib/eventstore/aggregate'
import { holds } from '#lib/rpc/caller'
import { callerIn } from '#lib/rpc/caller-in'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { outlives } from '../directory/events/sign-outs.ts'
import type { User } from '../directory/events/user.ts'
import { sessionSinceOpen } from '../directory/organizations/in-open-organization.ts'
import type { FactorKind, Session } from './events/session.ts'
import type { Human } from '../directory/events/human.ts'
import { mayAddBy } from './change-factors.ts'
import { areSecond, maySetUp, maySetUpPasskey } from './factors/asked-first.ts'
import { factorKinds } from './factors/kinds.ts'
import { freshFor } from './fresh-for.ts'
import { type OwnSession, requireFreshSession } from './fresh-session.ts'
import { provedMailboxAlone } from './mailbox-alone.ts'
import { loadPersonPolicy } from './login-policy/load-person-policy.ts'
import { markOfLink, type MarkOfLink } from './mark-of-link.ts'
import {
  checkedAt,
  checkedFactors,
  countingFactors,
  lastProof,
  missingFactors,
  ownFactors,
  type PersonPolicy,
} from './login-policy/login-policy.ts'

/**
 * The session that vouches for a new second factor of a user: the user's own; or, where a login application asks, one that
 * began there. It names the user alone, as ZITADEL's does, so the session is looked for. As on Roster's pages it lacks nothing;
 * or, where `setsUp`, it lacks what the user must have and has none of. Undefined where the caller administers the user.
 * FAILED_PRECONDITION FACTOR_NOT_FRESH.
 */
export async function requireVouchingSession(
  context: Context,
  userId: string,
  call: Call,
  { setsUp = false } = {},
): Promise<OwnSession | undefined> {
  if (call.caller.userId === userId) return requireFreshSession(context, userId, call)
  const user = await context.store.load<User>('user', userId)
  if (await administers(call, user?.organizationId)) return undefined
  return requireSessionThere(context, user, call, (missing, human) => setsUp && maySetUp(missing, human))
}

/**
 * A session that began at the calling login application vouches for a passkey or a security key of a user. Who administers the
 * user makes a link. Returns the mark of what is made. FAILED_PRECONDITION FACTOR_NOT_FRESH, FACTOR_NOT_AVAILABLE.
 */
export async function requireVouchedPasskey(context: Context, userId: string, call: Call): Promise<MarkOfLink> {
  const user = await context.store.load<User>('user', userId)
  const own = await requireSessionThere(context, user, call, maySetUpPasskey)
  mayAddBy(own)(user!.state.human!)
  return own.mark
}

async function requireSessionThere(
  context: Context,
  user: Existing<User> | undefined,
  call: Call,
  mayLack: (missing: FactorKind[], human: Human | undefined, policy: PersonPolicy) => boolean,
): Promise<OwnSession> {
  if (!user?.state.human) throw notVouched()
  const { id: userId, organizationId } = user
  const policy = await loadPersonPolicy(context, { userId, organizationId }, call)
  for (const { id, state, now } of await findSessions(context, userId, call.caller.userId)) {
    if (!isFresh(policy, user.state, state, now) || state.ended || !outlives(user.state, id, state.signOuts ?? 0))
      continue
    const checked = checkedFactors(state)
    if (checked.some(({ kind }) => kind === 'mailed-code') && provedMailboxAlone(user.state.human, checked)) continue
    // A trusted browser stands in for nothing here.
    const [missing] = missingFactors(policy, ownFactors(user.state.human, policy), checkedAt(state), { now })
    const mayBeLacked =
      missing && missing !== 'new-password' && areSecond(missing) && mayLack(missing, user.state.human, policy)
    if (!missing || mayBeLacked) {
      const mark = markOfLink(user.state.human, checkedAt(state), now)
      return { hasSecond: checked.some(({ kind }) => factorKinds[kind].second !== undefined), mark }
    }
  }
  throw notVouched()
}

/**
 * The id of a session of the user that began at the login application which asks, and lacks nothing but another password: its
 * first factor was checked of late. FAILED_PRECONDITION FACTOR_NOT_FRESH where there is none.
 */
export async function sessionThatMustChange(context: Context, userId: string, call: Call): Promise<string> {
  const user = await context.store.load<User>('user', userId)
  if (!user) throw notVouched()
  const policy = await loadPersonPolicy(context, { userId, organizationId: user.organizationId }, call)
  for (const { id, state, now } of await findSessions(context, userId, call.caller.userId)) {
    if (!isFresh(policy, user.state, state, now) || state.ended || !outlives(user.state, id, state.signOuts ?? 0))
      continue
    const [missing] = missingFactors(policy, ownFactors(user.state.human, policy), checkedAt(state), { now })
    if (missing === 'new-password') return id
  }
  throw notVouched()
}

function isFresh(policy: PersonPolicy, { human }: User, session: Session, now: Date): boolean {
  const last = lastProof(countingFactors(policy, ownFactors(human, policy), checkedAt(session)))
  return last !== undefined && now.getTime() - last.getTime() <= freshFor * 1000
}

export function notVouched(): RosterError {
  return new RosterError(
    'FAILED_PRECONDITION',
    'FACTOR_NOT_FRESH',
    'The login application has no session of the user whose first factor was checked within the last ten minutes, and which lacks nothing that the user has.',
  )
}

/** Of a user who does not exist, only a caller with the permission everywhere learns that. */
export async function administers(call: Call, organizationId: string | undefined): Promise<boolean> {
  if (holds(call.caller, 'user.write')) return true
  if (organizationId === undefined) return false
  return holds(await callerIn(call, organizationId), 'user.write', organizationId)
}

/** The living sessions of a user that began at a login application, the newest first. UNAVAILABLE STORE_UNAVAILABLE. */
async function findSessions({ sql }: Context, userId: string, loginClientId: string) {
  return orUnavailable(sql<{ id: string; state: Session; now: Date }[]>`
    select a.id, a.state, roster_now() as now
    from tokens t join aggregates a on a.type = 'session' and a.id = t.session_id
    where t.user_id = ${userId} and t.session_id <> '' and t.expires_at > roster_now()
      and ${sessionSinceOpen(sql, sql`t.organization_id`, sql`t.session_id`)}
      and a.state ->> 'loginClientId' = ${loginClientId}
    order by t.session_id collate "C" desc limit ${mostSessions}
  `)
}

const mostSessions = 20
