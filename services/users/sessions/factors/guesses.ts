import { randomUUID } from 'node:crypto'
import { orUnavailable } from '#lib/database/database'
import type { Write } from '#lib/database/database'
import { invalid, RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, Guard, Use } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type MailOfFactors, mailOfFactors } from '../../directory/email/factor-mails.ts'
import type { SecondFactorKind } from '../../directory/events/human.ts'
import { type User, userKey } from '../../directory/events/user.ts'
import { type PasswordCode, type PasswordCodeEvent, passwordCodeKey } from '../../directory/events/password-code.ts'
import type { LoginUser } from '../../directory/login-names/login-user.ts'
import { isActive } from '../../directory/states/user-state.ts'
import type { FactorKind, Session, SessionEvent } from '../events/session.ts'
import { sessionNotFound } from '../sessions.ts'
import type { FactorTarget } from './factor.ts'
import { factorKinds } from './kinds.ts'

/** So many wrong codes since the last right one, and no further one is checked. */
export const mostWrong = 100
/** Each further so many wrong ones, the person is told, once a day. */
const tellsAt = 5
/** Browsers that passed a factor, of a user. */
const mostBrowsers = 20

/** Whom a try counts for: the person and the factor; apart, a browser that passed it before. */
export interface Guesser {
  kind: SecondFactorKind
  userId: string
  /** Empty: everybody else. */
  browserId: string
}

/** Who tries, in a browser or none. One without a browser is everybody. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findGuesser(
  { sql }: Pick<Context, 'sql'>,
  kind: SecondFactorKind,
  { userId, browserId = '' }: { userId: string; browserId?: string | undefined },
): Promise<Guesser> {
  return { kind, userId, browserId: (await hasPassedIn({ sql }, userId, kind, browserId)) ? browserId : '' }
}

/** Whether a user passed a factor in this browser before. UNAVAILABLE STORE_UNAVAILABLE. */
export async function hasPassedIn(
  { sql }: Pick<Context, 'sql'>,
  userId: string,
  kind: FactorKind,
  browserId: string | undefined,
): Promise<boolean> {
  if (browserId === undefined) return false
  const rows = await orUnavailable(sql`
    select from factor_guesses
    where user_id = ${userId} and kind = ${kind} and browser_id = ${browserId} and passed_at is not null
  `)
  return rows.length > 0
}

/** What a right code stores of its browser. */
export function passedIn(userId: string, kind: FactorKind, browserId: string | undefined): Write[] {
  if (browserId === undefined) return []
  return [
    (sql) => sql`
      insert into factor_guesses (user_id, kind, browser_id, passed_at)
      values (${userId}, ${kind}, ${browserId}, roster_now())
      on conflict (user_id, kind, browser_id) do update set wrong = 0, passed_at = excluded.passed_at, told_at = null
    `,
    (sql) => sql`
      delete from factor_guesses where user_id = ${userId} and kind = ${kind} and browser_id in (
        select browser_id from factor_guesses where user_id = ${userId} and kind = ${kind} and browser_id <> ''
        order by passed_at desc, browser_id offset ${mostBrowsers}
      )
    `,
  ]
}

/** What a right code stores: the guard, and the writes that begin to count anew. `browserId`: it passed the factor. */
export function passing(
  { keys }: Pick<Context, 'keys'>,
  guesser: Guesser,
  browserId = '',
): { uses: Use[]; guard: Guard; writes: Write[] } {
  const { userId, kind } = guesser
  const ids = [...new Set([guesser.browserId, browserId])]
  return {
    uses: usesOfGuesses({ keys }, guesser),
    guard: notLocked(guesser),
    writes: ids.flatMap((id) => passedIn(userId, kind, id)),
  }
}

/** A factor that is added or removed: nothing counts of the one before, and no browser passed it. */
export function withoutGuesses(userId: string, kind: SecondFactorKind): Write {
  return (sql) => sql`delete from factor_guesses where user_id = ${userId} and kind = ${kind}`
}

/** The second factors of a user that are locked: in all browsers, or in some. UNAVAILABLE STORE_UNAVAILABLE. */
export async function lockedFactors({ sql }: Pick<Context, 'sql'>, userId: string): Promise<SecondFactorKind[]> {
  const rows = await orUnavailable(sql<{ kind: SecondFactorKind }[]>`
    select distinct kind from factor_guesses where user_id = ${userId} and wrong >= ${mostWrong} order by kind
  `)
  return rows.map(({ kind }) => kind)
}

/** Takes the locks of some factors back. What counts within ten minutes and a day goes on. */
export function unlocking(userId: string, kinds: readonly SecondFactorKind[]): Write {
  return (sql) => sql`
    update factor_guesses set wrong = 0, told_at = null where user_id = ${userId} and kind = any(${[...kinds]}::text[])
  `
}

/**
 * Counted beside each try, right or wrong, so that tries at once are no more than others. Over all sessions, pages and
 * names of the user. RESOURCE_EXHAUSTED FACTOR_THROTTLED.
 */
export function usesOfGuesses({ keys }: Pick<Context, 'keys'>, { kind, userId, browserId }: Guesser): Use[] {
  return [
    {
      key: keys
        .mac('factor-guesses', keys.currentId, [kind, userId, ...(browserId === '' ? [] : [browserId])])
        .toString('base64'),
      limits: factorKinds[kind].second!.guesses,
      exceeded: (retryAfter) =>
        new RosterError('RESOURCE_EXHAUSTED', 'FACTOR_THROTTLED', 'Too many codes of this user were tried lately.', {
          retryAfter,
        }),
    },
  ]
}

function notLocked(guesser: Guesser): Guard {
  return {
    key: JSON.stringify(['factor-guesses', guesser]),
    counted: { by: 'count_factor_guesses', of: guesser },
    most: mostWrong,
    full: new RosterError(
      'FAILED_PRECONDITION',
      'FACTOR_LOCKED',
      'Too many wrong codes of this user were tried since the last right one. Another factor, or an administrator, can help.',
    ),
  }
}

/**
 * Refuses a wrong code: counts it, and tells the person who knows the password. INVALID_ARGUMENT CODE_INVALID; or the error
 * of the limits.
 */
export async function refuseGuess(
  context: Context,
  guesser: Guesser,
  { user: { userId, organizationId }, session, field }: { user: LoginUser; session: FactorTarget; field: string },
  { requestId, deadline }: Call,
): Promise<never> {
  const { kind } = guesser
  const mail = mailOfFactors('factor-guessed', { userId, organizationId, codeId: randomUUID() })
  const counted = (user: User | undefined) => ({
    uses: usesOfGuesses(context, guesser),
    guards: [notLocked(guesser)],
    writes: [counting(guesser, user, mail.row)],
    answer: undefined,
  })
  const { passwordCodeId: codeId } = session
  const common = { reads: { user: userKey(userId) }, call: { caller: { userId }, requestId, deadline } }
  if (codeId === undefined)
    await context.store.execute({
      ...common,
      aggregate: { type: 'session', id: session.id },
      decide({ state }: Aggregate<Session>, _now, { user }): Decision<SessionEvent> {
        if (!state || state.ended || state.userId !== userId || !isActive(user.state)) throw sessionNotFound()
        return { ...counted(user.state), events: [{ type: 'factor.rejected', payload: { userId, kind } }] }
      },
    })
  else
    await context.store.execute({
      ...common,
      aggregate: passwordCodeKey(userId),
      decide({ state }: Aggregate<PasswordCode>, _now, { user }): Decision<PasswordCodeEvent> {
        if (state?.codeId !== codeId || !isActive(user.state)) throw sessionNotFound()
        return { ...counted(user.state), events: [{ type: 'factor.rejected', payload: { codeId, kind } }] }
      },
    })
  context.failureCounts.note(userId, 'code-wrong')
  await mail.announce(context)
  throw codeInvalid(field)
}

/** One that is wrong, expired, used or replaced. */
export function codeInvalid(field: string): RosterError {
  return invalid([{ field, description: 'is wrong, expired, used or replaced' }], 'CODE_INVALID')
}

// The mail goes with the count, because no decision sees that.
function counting(
  { userId, kind, browserId }: Guesser,
  user: User | undefined,
  { codeId, kind: mailKind, lifetime }: MailOfFactors['row'],
): Write {
  const isTold = user?.human?.isVerified === true
  return (sql) => sql`
    with counted as (
      insert into factor_guesses as g (user_id, kind, browser_id, wrong) values (${userId}, ${kind}, ${browserId}, 1)
      on conflict (user_id, kind, browser_id) do update set
        wrong = g.wrong + 1,
        told_at = case
          when (g.wrong + 1) % ${tellsAt}::int = 0 and coalesce(g.told_at < roster_now() - interval '1 day', true)
          then roster_now() else g.told_at
        end
      returning told_at
    )
    insert into unsent_mails (mail_id, user_id, kind, requested_at, expires_at)
    select ${codeId}, ${userId}, ${mailKind}, roster_now(), roster_now() + ${lifetime}::interval from counted
    where told_at = roster_now() and ${isTold}
  `
}
