import { type SignInFactor, SignInFactorState } from '#gen/roster/users/v1/session_service'
import { orUnavailable } from '#lib/database/database'
import { reachedLimit } from '#lib/eventstore/end-of-uses'
import type { Context } from '../../context.ts'
import { type SecondFactorKind, whyMailProvesNothing } from '../../directory/events/human.ts'
import type { LoginUser } from '../../directory/login-names/login-user.ts'
import type { FactorKind } from '../../sessions/events/session.ts'
import { maySetUp } from '../../sessions/factors/asked-first.ts'
import { mostWrong, usesOfGuesses } from '../../sessions/factors/guesses.ts'
import { factorKinds, hasFactor, secondFactors } from '../../sessions/factors/kinds.ts'
import { relyingParty } from '../../sessions/factors/passkey/relying-party.ts'
import { factors } from '../../sessions/factors/registry.ts'
import { type PersonPolicy, provesAgain } from '../../sessions/login-policy/login-policy.ts'
import { factorSentences } from './factor-sentences.ts'

type State = keyof typeof factorSentences
type Described = Partial<Pick<SignInFactor, 'until' | 'limit' | 'removedDate'>> & { state: State }

/** A second factor of a user, as the next sign-in meets it. */
export type DescribedFactor = SignInFactor & { kind: FactorKind }

/** So many of the last removals are looked at. */
const mostRemovals = 20

/**
 * The second factors that a sign-in asks for (`asked`), that the user has, and that were removed, in the order of the pages.
 * It counts as no try. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function describeFactors(
  context: Context,
  user: LoginUser,
  { policy, asked }: { policy: PersonPolicy; asked: readonly FactorKind[] },
): Promise<DescribedFactor[]> {
  const [wrong, removals] = await Promise.all([countWrong(context, user.userId), findRemovals(context, user.userId)])
  const shown = secondFactors.filter((kind) => asked.includes(kind) || owns(user, kind) || removals.has(kind))
  const described = await Promise.all(
    shown.map(async (kind): Promise<DescribedFactor> => {
      const { state, until, limit, removedDate } =
        whyNotNow(context, user, kind, { policy, asked, removedDate: removals.get(kind) }) ??
        (await limitOf(context, user, kind, wrong))
      return {
        kind,
        method: factorKinds[kind].method,
        asked: asked.includes(kind),
        state,
        sentence: factorSentences[state],
        until,
        wrongCodes: wrong.find((row) => row.kind === kind && row.browserId === '')?.wrong ?? 0,
        limit,
        removedDate,
      }
    }),
  )
  return described
}

function owns({ state: { human } }: LoginUser, kind: FactorKind): boolean {
  return kind === 'passkey' ? (human?.passkeys ?? []).length > 0 : hasFactor(human, kind as SecondFactorKind)
}

// Without a look at the tries. Undefined: they decide.
function whyNotNow(
  { config }: Context,
  user: LoginUser,
  kind: FactorKind,
  { policy, asked, removedDate }: { policy: PersonPolicy; asked: readonly FactorKind[]; removedDate: Date | undefined },
): Described | undefined {
  const { human } = user.state
  const isAsked = asked.includes(kind)
  const hasIt = owns(user, kind)
  if (hasIt && !isAsked && (!isAllowed(policy, kind) || provesAgain(policy, kind)))
    return { state: SignInFactorState.SIGN_IN_FACTOR_STATE_NOT_ALLOWED }
  if (kind === 'otp-email' && (hasIt || isAsked)) {
    const why = whyMailProvesNothing(human)
    if (why === 'not-verified') return { state: SignInFactorState.SIGN_IN_FACTOR_STATE_ADDRESS_NOT_VERIFIED }
    return why && { state: SignInFactorState.SIGN_IN_FACTOR_STATE_PASSWORD_BY_MAIL }
  }
  if (!hasIt) {
    const mayAdd = !policy.factors.includes('mailed-code') && maySetUp(asked, human)
    if (isAsked && factorKinds[kind].second!.isSetUpInSignIn && mayAdd)
      return { state: SignInFactorState.SIGN_IN_FACTOR_STATE_SET_UP_IN_SIGN_IN }
    return removedDate
      ? { state: SignInFactorState.SIGN_IN_FACTOR_STATE_REMOVED, removedDate }
      : { state: SignInFactorState.SIGN_IN_FACTOR_STATE_NOT_SET_UP }
  }
  if (kind === 'passkey' && !human!.passkeys!.some(({ rpId }) => rpId === relyingParty(config).id))
    return { state: SignInFactorState.SIGN_IN_FACTOR_STATE_OTHER_DOMAIN }
  return undefined
}

// A passkey in place of a password is no second factor, and serves all the same.
function isAllowed({ allowPasskeys, secondFactors: allowed }: PersonPolicy, kind: FactorKind): boolean {
  return kind === 'passkey' ? allowPasskeys : allowed.includes(kind)
}

async function limitOf(context: Context, user: LoginUser, kind: FactorKind, wrong: WrongCodes[]): Promise<Described> {
  const locked = wrong.filter((row) => row.kind === kind && row.wrong >= mostWrong)
  if (locked.some(({ browserId }) => browserId === ''))
    return { state: SignInFactorState.SIGN_IN_FACTOR_STATE_LOCKED, limit: { most: mostWrong, within: undefined } }
  const guesses =
    kind === 'passkey'
      ? []
      : usesOfGuesses(context, { kind: kind as SecondFactorKind, userId: user.userId, browserId: '' })
  const reached = await reachedLimit(context.sql, guesses)
  const state = SignInFactorState.SIGN_IN_FACTOR_STATE_THROTTLED
  if (reached) return { state, ...shownLimit(reached) }
  // What is left of its uses are the mails.
  const mails = await reachedLimit(context.sql, factors[kind as SecondFactorKind].uses?.(context, user) ?? [])
  if (mails) return { state: SignInFactorState.SIGN_IN_FACTOR_STATE_MAILS_THROTTLED, ...shownLimit(mails) }
  return {
    state:
      locked.length > 0
        ? SignInFactorState.SIGN_IN_FACTOR_STATE_LOCKED_IN_BROWSERS
        : SignInFactorState.SIGN_IN_FACTOR_STATE_READY,
  }
}

function shownLimit({ until, most, seconds }: { until: Date; most: number; seconds: number }) {
  return { until, limit: { most, within: { seconds, nanos: 0 } } }
}

interface WrongCodes {
  kind: FactorKind
  browserId: string
  wrong: number
}

function countWrong({ sql }: Context, userId: string): Promise<WrongCodes[]> {
  return orUnavailable(sql<WrongCodes[]>`
    select kind, browser_id as "browserId", wrong from factor_guesses where user_id = ${userId}
  `)
}

// When each kind was removed last.
async function findRemovals({ sql }: Context, userId: string): Promise<Map<FactorKind, Date>> {
  const rows = await orUnavailable(sql<{ kind: FactorKind; at: Date }[]>`
    select coalesce(payload ->> 'kind', 'passkey') as kind, created_at as at from events
    where aggregate_type = 'user' and aggregate_id = ${userId} and type in ('factor.removed', 'passkey.removed')
    order by sequence desc limit ${mostRemovals}
  `)
  return new Map(rows.toReversed().map(({ kind, at }) => [kind, at]))
}
