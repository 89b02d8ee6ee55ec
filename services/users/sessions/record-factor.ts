import { isDeepStrictEqual } from 'node:util'
import { v7 as uuid } from 'uuid'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import type { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import type { Write } from '#lib/database/database'
import {
  type Aggregate,
  type AggregateKey,
  details,
  type Existing,
  missing,
  type Read,
} from '#lib/eventstore/aggregate'
import type { Decision, Guard } from '#lib/eventstore/command'
import type { ReadBy, Reads } from '#lib/eventstore/reads'
import { type Caller, holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import { isOpen, type OrganizationStatus } from '../../organization-status.ts'
import type { Context } from '../context.ts'
import { type User, userKey } from '../directory/events/user.ts'
import { outlives, signOutsOf } from '../directory/events/sign-outs.ts'
import { beganSinceOpen, statuses } from '../directory/organizations/statuses.ts'
import { credentialsInvalid } from '../directory/passwords/check-password.ts'
import { isActive } from '../directory/states/user-state.ts'
import { hashToken, newToken } from '../directory/tokens/token.ts'
import { evolveSession, type Session, type SessionEvent, sessionKey } from './events/session.ts'
import type { ProvedFactor } from './factors/factor.ts'
import { isFirst } from './factors/kinds.ts'
import { notAvailable } from './factors/otp-email/otp-email.ts'
import { afterRightPassword } from './login-policy/lockout.ts'
import { refused } from './factors/passkey/ceremony.ts'
import { trustOf } from './browsers/trusted-browser.ts'
import { loadPersonPolicy } from './login-policy/load-person-policy.ts'
import { checkedFactors, checkLifetime, type PersonPolicy, provesAgain } from './login-policy/login-policy.ts'
import { openRecord } from './records/sign-in-records.ts'
import { missingMethods } from './session-tokens.ts'
import { sessionNotFound, storeSession } from './sessions.ts'

/** The session that a factor comes to, and what is stored with it. */
export interface Target {
  /** The session that goes on. Undefined: another one begins. */
  session: Read<Existing<Session>> | undefined
  /** Of one that begins: its id. Default: a new one. */
  sessionId?: string
  /** Seconds; at most as long as every session, or as one that may be kept. */
  lifetime?: number | undefined
  /** The person wants to stay signed in. */
  keep?: boolean | undefined
  /** The cookie by which the browser is known to be trusted. */
  trust?: string | undefined
  /** Of a session in a browser, which nobody has the token of. */
  browserId?: string
  /** The client id of the application that the user signs in to. */
  clientId?: string | undefined
  /** The error where the session that goes on has changed, or is over. Default: SESSION_NOT_FOUND. */
  gone?: Error
  /** Aggregates that the writes depend on, as they were read, and the policy of the user's organization. */
  known?: { reads: Reads; read: Read<Aggregate>[]; policy: PersonPolicy } | undefined
  writes?(recorded: NewSession): Write[]
  guards?: Guard[]
}

/** A session with its new factor, before it is stored, and the `reads` of its target. */
export interface NewSession {
  sessionId: string
  userId: string
  session: Aggregate<Session>
  found: ReadBy<Reads>
  now: Date
}

export interface RecordedFactor {
  sessionId: string
  sessionToken: string
  expirationDate: Date
  details: ObjectDetails
  /** Of these, one is still to be checked. Until then the token opens nothing. */
  missingFactors: AuthenticationMethodType[]
}

/**
 * Records a factor: opens a session with it, or goes on with one, which gets another token. The errors of what the factor
 * uses up; FAILED_PRECONDITION FACTOR_NOT_AVAILABLE where the policy does not allow it; UNAUTHENTICATED
 * CREDENTIALS_INVALID where the user may no longer sign in, or the factor does not hold any more.
 */
export async function recordFactor(
  context: Context,
  { kind, check: proved, user: { userId, organizationId, state: asProved }, holds, ...factor }: ProvedFactor,
  target: Target,
  { caller, requestId, deadline, once, ...client }: Pick<Call, 'requestId' | 'deadline'> & Partial<Call>,
): Promise<RecordedFactor> {
  const { config, sql, store } = context
  const [policy, record] = await Promise.all([
    target.known?.policy ??
      loadPersonPolicy(context, { userId, organizationId, state: asProved }, { requestId, deadline }),
    openRecord(context, { userId, kind, clientId: target.clientId }, client),
  ])
  // It would open a session in which it counts for nothing.
  if (kind === 'passkey' && !policy.allowPasskeys && isFirst({ kind, ...proved })) throw refused('not-allowed')
  // The browser is to keep it: it counts again once the person has no role.
  if (kind === 'passkey' && proved?.byLink && policy.byHandAlone) throw refused('wrong')
  // As a wrong one: that it is right is told to nobody.
  if (kind === 'password' && !policy.factors.includes(kind)) throw credentialsInvalid()
  // It was taken from the policy meanwhile, or another organization's.
  if (kind === 'provider' && !policy.providers.some(({ idpId }) => idpId === proved?.idpId)) throw credentialsInvalid()
  if (kind === 'mailed-code' && !policy.factors.includes(kind)) throw notAvailable()
  if (kind === 'otp-email' && (provesAgain(policy, kind) || beganByMail(target.session?.state))) throw notAvailable()
  const { session: known, known: { reads = {}, read = [] } = {} } = target
  const check = sinceFirst(kind, proved, known?.state)
  const opens = isFirst({ kind, ...check })
  const isOfBrowser = target.browserId !== undefined
  const sessionId = known?.id ?? target.sessionId ?? uuid()
  const sessionToken = newToken()
  // A replica of the former release does not know the fields of what was checked.
  const isAlone = isOfBrowser || !(await isBesideFormer(sql))
  return store.execute({
    aggregate: { type: 'session', id: sessionId },
    // If-Match is left out: a mismatch would reveal a right factor and leave no session.
    call: { caller: { ...caller, userId }, requestId, deadline, ...(once && !known && { once }) },
    reads: { ...reads, user: userKey(userId), status: statuses.key(organizationId) },
    known: [...read, known ?? { ...missing(sessionKey(sessionId)), readAt: read[0]?.readAt ?? new Date(0) }],
    decide(session: Aggregate<Session>, now, found): Decision<SessionEvent, Recorded> {
      const { user, status } = found as ReadBy<{ user: AggregateKey<User>; status: AggregateKey<OrganizationStatus> }>
      const { state } = user
      if (!isActive(state) || !holds(state) || !isOpen(status)) throw credentialsInvalid()
      // As a wrong one, too.
      if (kind === 'password' && policy.byHandAlone && state?.human?.passwordByLink) throw credentialsInvalid()
      if (known && !goesOn(session, { known, isOfBrowser }, state, status)) throw target.gone ?? sessionNotFound()
      const wasKept = session.state?.kept === true
      const kept = opens ? isAlone && isKept(policy, target) : wasKept
      const end = opens
        ? sessionEnd(checkLifetime(policy, kept), now, target.lifetime)
        : nearerEnd(known!.state, now, target.lifetime)
      const expiresAt = end.toISOString()
      const trustId =
        opens && isOfBrowser
          ? trustOf({ id: userId, human: state!.human }, target.trust ?? '', policy, { now, status })
          : session.state?.trustId
      const trusted = trustId !== undefined && { trustId }
      const begun = {
        factors: [{ kind, at: now.toISOString(), ...check }],
        ...(isOfBrowser && { browserId: target.browserId! }),
        signOuts: signOutsOf(state),
        ...(kept && { kept }),
        ...trusted,
        ...(!isOfBrowser && isLoginApplication(caller) && { loginClientId: caller!.userId }),
      }
      const event: SessionEvent = known
        ? {
            type: 'factor.checked',
            payload: { userId, kind, expiresAt, ...(kept !== wasKept && { kept }), ...trusted, ...check },
          }
        : { type: 'created', payload: { userId, expiresAt, ...(isAlone && begun) } }
      // Of a kind, the last check counts.
      const before = session.state ? checkedFactors(session.state).filter((one) => one.kind !== kind) : []
      const checked = [...before, { kind, at: now.toISOString(), ...check }]
      const missing = missingMethods(policy, state!, { factors: checked, ...trusted }, now)
      const partial = missing.length > 0 || undefined
      const row = { userId, organizationId, human: true, sessionId, expiresAt: end, ...(partial && { partial }) }
      const token = known
        ? renewToken(sessionId, isOfBrowser ? undefined : sessionToken, { end, partial })
        : storeSession(sessionToken, row, config.SESSIONS_PER_USER)
      const created = known ? {} : { createdAt: now, organizationId }
      const after = { ...session, ...created, state: evolveSession(session.state, event, now) }
      return {
        organizationId,
        events: [event],
        writes: [
          token,
          ...record(sessionId, partial === true),
          ...factor.writes,
          ...(factor.writesOf?.({ sessionId, userId }) ?? []),
          ...(kind === 'password' ? afterRightPassword(userId, policy) : []),
          ...(target.writes?.({ sessionId, userId, session: after, found, now }) ?? []),
        ],
        guards: [...factor.guards, ...(target.guards ?? [])],
        uses: factor.uses,
        ...(factor.claims && { claims: factor.claims }),
        answer: { end, missingFactors: missing },
      }
    },
    respond: ({ after, answer: { end, missingFactors: missing } }) => ({
      sessionId,
      sessionToken,
      expirationDate: end,
      details: details(after),
      missingFactors: missing,
    }),
  })
}

/** Whether the caller signs people in on pages of its own. */
export function isLoginApplication(caller: Caller | undefined): boolean {
  return caller !== undefined && holds(caller, 'session.write')
}

// A code by mail opened the session, or could have.
function beganByMail(session: Session | undefined): boolean {
  return session !== undefined && checkedFactors(session).some(({ kind }) => kind === 'mailed-code')
}

// A session that began with a passkey, and is asked for it once more, still began with it: `auth_time` is of that kind.
function sinceFirst(
  kind: ProvedFactor['kind'],
  proved: ProvedFactor['check'],
  session: Session | undefined,
): ProvedFactor['check'] {
  const began = session && checkedFactors(session).some((one) => one.kind === kind && isFirst(one))
  if (!proved?.second || !began) return proved
  const { second: _, ...check } = proved
  if (!check.userVerified) throw refused('unverified')
  return check
}

interface Recorded {
  end: Date
  missingFactors: AuthenticationMethodType[]
}

// It was not ended, neither alone nor together with all others. Of one whose token a caller has: each check gave it
// another one.
function goesOn(
  session: Aggregate<Session>,
  { known, isOfBrowser }: { known: Existing<Session>; isOfBrowser: boolean },
  user: User | undefined,
  status: Aggregate<OrganizationStatus>,
): boolean {
  const { id, state } = session
  if (state?.ended !== false || !outlives(user, id, state.signOuts ?? 0)) return false
  return isOfBrowser || (isDeepStrictEqual(state.factors, known.state.factors) && beganSinceOpen(session, status))
}

function renewToken(
  sessionId: string,
  token: string | undefined,
  { end, partial = null }: { end: Date; partial: true | undefined | null },
): Write {
  return (sql) => sql`
    update tokens set expires_at = ${end}, partial = ${partial} ${token === undefined ? sql`` : sql`, hash = ${hashToken(token)}`}
    where session_id <> '' and session_id = ${sessionId}
  `
}

// In a browser by the person's choice. A login application chooses a lifetime that others do not have.
function isKept(
  { keepSignedIn, passwordCheckLifetime }: PersonPolicy,
  { browserId, keep, lifetime = 0 }: Target,
): boolean {
  if (keepSignedIn === 'off') return false
  if (browserId === undefined) return lifetime > passwordCheckLifetime
  return keepSignedIn === 'always' || keep === true
}

/** When a session ends whose first factor was checked now. */
function sessionEnd(most: number, now: Date, lifetime = most): Date {
  return new Date(now.getTime() + Math.min(lifetime, most) * 1000)
}

/** When one ends whose second factor was checked now: as before, or sooner where the caller chose so. */
function nearerEnd({ expiresAt }: Pick<Session, 'expiresAt'>, now: Date, lifetime = Infinity): Date {
  return new Date(Math.min(Date.parse(expiresAt), now.getTime() + lifetime * 1000))
}
