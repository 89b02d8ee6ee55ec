import { randomUUID } from 'node:crypto'
import type { Sql } from '#lib/database/database'
import type { Log } from '#lib/log'
import type { Destinations } from '#lib/outbound/destinations'
import { post } from '../webhooks/post.ts'
import { retryDelay } from '../webhooks/webhook-backoff.ts'
import { logoutTries } from '../measures.ts'
import { asking, type LogoutUsers } from './ended-sessions.ts'
import { giveLogoutBack, type SettledLogout, settleLogout, type TakenLogout } from './logout-queue.ts'

export interface SendLogoutOptions {
  sql: Sql
  users: LogoutUsers
  destinations: Destinations
  log: Log
  /** Milliseconds that an application has to answer. */
  within: number
}

/** Milliseconds after which a logout that no application took is given up. */
const retryFor = 3_600_000

/**
 * Tells an application of the end of a session (OpenID Connect Back-Channel Logout 1.0 section 2.5), by a token that
 * users signs for this try. Returns the milliseconds until another try.
 */
export async function sendLogout(
  options: SendLogoutOptions,
  taken: TakenLogout,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { sql, log } = options
  const began = performance.now()
  let outcome: Answer
  try {
    outcome = await tell(options, taken, signal)
  } catch {
    await giveLogoutBack(sql, taken)
    return undefined
  }
  const settled = judge(taken, outcome, taken.now.getTime() + performance.now() - began)
  logoutTries.add(1, settled.state)
  await settleLogout(sql, taken, settled)
  const { deliveryId, applicationId } = taken
  log.info({ deliveryId, applicationId, ...settled }, 'an application was told of the end of a session')
  return settled.delay
}

interface Answer {
  status: number | undefined
  error: string | undefined
  retryAfter?: number | undefined
}

const notAsked = 'the application has no address for it any more'

async function tell(
  { users, destinations, within }: SendLogoutOptions,
  { sessionId, applicationId }: TakenLogout,
  signal: AbortSignal,
): Promise<Answer> {
  const call = { requestId: randomUUID(), deadline: Date.now() + asking.within }
  const signed = await users.signLogoutToken({ sessionId, applicationId }, call).catch(() => undefined)
  if (!signed) return { status: undefined, error: 'not signed' }
  if (signed.uri === '') return { status: undefined, error: notAsked }
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'Roster' }
  const body = String(new URLSearchParams({ logout_token: signed.logoutToken }))
  return post(signed.uri, headers, body, destinations, signal, within)
}

function judge({ attempts, queuedAt }: TakenLogout, { status, error, retryAfter }: Answer, now: number): SettledLogout {
  if (status === 200 || status === 204) return { state: 'sent', error: '' }
  // The application has understood it, and refuses it.
  const isOver = status === 400 || error === notAsked
  const delay = isOver ? undefined : retryDelay({ attempts: attempts + 1, queuedAt, wished: retryAfter }, retryFor, now)
  return { state: delay === undefined ? 'failed' : 'queued', error: error ?? `status ${status}`, delay }
}
