import { NatsError } from 'nats'
import { RosterError } from '#lib/errors'
import { eraseInStream } from '#lib/outbox/erase-in-stream'
import type { Sql } from '#lib/database/database'
import type { Nats } from '#lib/nats/connect-nats'
import { partTypes } from './personal-data.ts'

/** A user to clean the stream of. `generation`: that of the stream before. */
export interface Cleaned {
  userId: string
  organizationId: string
  generation: number
}

export interface CleanOptions {
  sql: Sql
  nats: Nats
}

/** Has the keeper remove a user's events from the stream, and notes it. UNAVAILABLE where the keeper is away. */
export async function cleanStream(
  { sql, nats }: CleanOptions,
  { userId, organizationId, generation }: Cleaned,
): Promise<void> {
  const { removed, types } = await eraseInStream(nats, 'users', { organizationId, type: 'user', id: userId }).catch(
    away,
  )
  const left = partTypes.filter((type) => !types.includes(type))
  if (left.length > 0) throw new Error(`the keeper of the stream does not remove ${left.join(', ')}`)
  await sql`
    update forgettings set stream_at = roster_now(), stream_events = coalesce(stream_events, 0) + ${removed},
      stream_generation = ${generation}
    where user_id = ${userId}
  `
}

/** What it waits for comes later. */
export function unavailable(message: string, cause?: unknown): RosterError {
  return new RosterError('UNAVAILABLE', 'SERVICE_UNAVAILABLE', message, { retryAfter: 1, cause })
}

// A service that is away is waited for. Any other answer concerns this user alone.
function away(cause: unknown): never {
  throw cause instanceof NatsError ? unavailable('The keeper of the stream does not answer.', cause) : cause
}
