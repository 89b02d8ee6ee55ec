import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import type { Session } from './events/session.ts'
import { factorKinds } from './factors/kinds.ts'
import { checkedFactors, lastFirstFactor } from './login-policy/login-policy.ts'

/** Seconds that a first factor counts for what matters. */
export const freshFor = 600

/** What a person's session proves who changes the own second factors. */
export interface OwnSession {
  hasSecond: boolean
}

/**
 * The session by which people change their own second factors: its first factor was checked of late, or a stolen token
 * would be enough. A token that a person let an application have is none. Undefined where the caller is another user.
 * FAILED_PRECONDITION FACTOR_NOT_FRESH.
 */
export async function requireFreshSession(
  { store }: Pick<Context, 'store'>,
  userId: string,
  { caller }: Pick<Call, 'caller'>,
): Promise<OwnSession | undefined> {
  if (caller.userId !== userId) return undefined
  const isOwn = caller.sessionId !== '' && caller.authorizationId === undefined
  const session = isOwn ? await store.load<Session>('session', caller.sessionId) : undefined
  const factors = session ? checkedFactors(session.state) : []
  const last = lastFirstFactor(factors.map((factor) => ({ ...factor, at: new Date(factor.at) })))
  const isFresh = last !== undefined && last.getTime() >= session!.readAt.getTime() - freshFor * 1000
  if (!isFresh || session!.state.ended || session!.state.userId !== userId)
    throw new RosterError(
      'FAILED_PRECONDITION',
      'FACTOR_NOT_FRESH',
      'Your own second factors are changed with a session whose password was checked within the last ten minutes.',
    )
  return { hasSecond: factors.some(({ kind }) => factorKinds[kind].second !== undefined) }
}
