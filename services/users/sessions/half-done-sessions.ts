import { v7 as uuid } from 'uuid'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { orUnavailable, type Sql, type Statement } from '#lib/database/database'
import type { Guard } from '#lib/eventstore/command'
import type { Context } from '../context.ts'
import type { LoginUser } from '../directory/login-names/login-user.ts'
import { begunSinceOpen } from '../directory/organizations/in-open-organization.ts'
import { networkOf } from '../directory/rate-limits/token-buckets.ts'
import { hashToken, newToken } from '../directory/tokens/token.ts'
import { sessionNotFound } from './sessions.ts'

/** A session that names a user of whom no factor was checked yet. Its token is good for nothing but to go on with it. */
export interface HalfDoneSession {
  sessionId: string
  userId: string
  organizationId: string
  /** Seconds that the whole session is to live; null: as long as others. */
  lifetime: number | null
  beganAt: Date
  expiresAt: Date
}

const seconds = 15 * 60
const mostOfUser = 20

/**
 * Begins one. Of a user with more than twenty, the oldest of the network goes that began most. UNAVAILABLE
 * STORE_UNAVAILABLE.
 */
export async function beginHalfDone(
  { sql, keys }: Pick<Context, 'sql' | 'keys'>,
  { userId, organizationId }: LoginUser,
  lifetime: number | null,
  address: string,
): Promise<HalfDoneSession & { token: string }> {
  const [sessionId, token] = [uuid(), newToken()]
  const [row] = await orUnavailable(sql<{ beganAt: Date }[]>`
    select begin_half_done_session(${sessionId}, ${userId}, ${organizationId}, ${hashToken(token)}, ${lifetime},
      ${seconds}, ${mostOfUser}, ${keys.mac('half-done network', keys.currentId, [networkOf(address) ?? address])}) as "beganAt"
  `)
  const { beganAt } = row!
  const expiresAt = new Date(beganAt.getTime() + seconds * 1000)
  return { sessionId, userId, organizationId, lifetime, beganAt, expiresAt, token }
}

/** A living one; with a token, only where that is its own. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findHalfDone(sql: Sql, sessionId: string, token?: string): Promise<HalfDoneSession | undefined> {
  const [row] = await orUnavailable(sql<HalfDoneSession[]>`
    select session_id as "sessionId", user_id as "userId", organization_id as "organizationId", lifetime,
      began_at as "beganAt", expires_at as "expiresAt"
    from half_done_sessions h
    where session_id = ${sessionId} and expires_at > roster_now()
      and ${begunSinceOpen(sql, sql`h.organization_id`, sql`h.began_at`)}
      ${token === undefined ? sql`` : sql`and hash = ${hashToken(token)}`}
  `)
  return row
}

/** Ends one; undefined where there is none. UNAVAILABLE STORE_UNAVAILABLE. */
export async function endHalfDone(sql: Sql, sessionId: string): Promise<ObjectDetails | undefined> {
  const [ended] = await orUnavailable(sql<ObjectDetails[]>`
    delete from half_done_sessions where session_id = ${sessionId}
    returning 0 as sequence, organization_id as "resourceOwner", began_at as "creationDate", roster_now() as "changeDate"
  `)
  return ended
}

/** The answer to a change of one. It has no events. */
export function detailsOf({ organizationId, beganAt }: HalfDoneSession): ObjectDetails {
  return { sequence: 0, creationDate: beganAt, changeDate: beganAt, resourceOwner: organizationId }
}

/** It makes place for a session with a factor, once, where it has this token still. */
export function completing(sessionId: string, token: string): { writes: () => Statement[]; guards: Guard[] } {
  return {
    writes: () => [(sql) => sql`delete from half_done_sessions where session_id = ${sessionId}`],
    guards: [
      {
        key: JSON.stringify(['half-done session', sessionId]),
        counted: { by: 'count_half_done_sessions', of: { id: sessionId, hash: hashToken(token).toString('hex') } },
        most: 1,
        full: sessionNotFound(),
      },
    ],
  }
}
