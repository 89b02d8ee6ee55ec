import { codes, RosterError } from '#lib/errors'
import { streamState } from '#lib/events/stream'
import type { Service } from '#lib/process'
import { repeat } from '#lib/repeat'
import { throttled } from '#lib/throttled'
import { cleanStream } from './clean-stream.ts'
import type { ForgettingOptions } from './forgetting.ts'

const lookEvery = 5000
const portion = 100

type Options = Pick<ForgettingOptions, 'sql' | 'nats' | 'log'> & { every?: number }

/**
 * Cleans the stream of removed users again, once it was lost or set back to an older copy. Such a copy may have their
 * names and addresses. What the tail publishes anew has the events of these users without them.
 */
export function startForgettingAgain({ every = lookEvery, ...options }: Options): Service {
  const failed = throttled(options.log, 'the stream may have events of removed users again: it is cleaned later')
  // A stream that was never lost has nothing again.
  let clean = 0
  return repeat({
    async work(stopped) {
      const [{ generation }] = await options.sql<[{ generation: number }]>`select generation from published`
      if (generation !== clean && (await forgetAgain(options, generation, failed, stopped))) clean = generation
    },
    every,
    retryAfter: every,
    failed,
  })
}

// Returns whether this generation of the stream is clean.
async function forgetAgain(
  { sql, nats }: Options,
  generation: number,
  failed: (error: Error) => void,
  stopped: AbortSignal,
): Promise<boolean> {
  const { maxAge } = await streamState(nats)
  const since = new Date(maxAge === Infinity ? 0 : Date.now() - maxAge)
  let isClean = true
  for (let after = ''; !stopped.aborted;) {
    const waiting = await sql<{ userId: string; organizationId: string; isPublished: boolean }[]>`
      select user_id as "userId", organization_id as "organizationId", (
        select (e.transaction_id, e.position) <= (p.transaction_id, p.position) from events e, published p
        where e.aggregate_type = 'user' and e.aggregate_id = f.user_id order by e.sequence desc limit 1
      ) as "isPublished"
      from forgettings f
      where forget_at is null and removed_at > ${since} and stream_generation < ${generation} and user_id > ${after}
      order by user_id limit ${portion}
    `
    for (const { isPublished, ...user } of waiting) {
      if (stopped.aborted) return false
      // Until the tail has gone past the removal, it may publish earlier events of the user.
      const isDone = isPublished && (await clean({ ...user, generation }))
      isClean &&= isDone
    }
    if (waiting.length < portion) return isClean
    after = waiting.at(-1)!.userId
  }
  return false

  // What concerns one user alone holds up no other.
  async function clean(user: Parameters<typeof cleanStream>[1]): Promise<boolean> {
    try {
      await cleanStream({ sql, nats }, user)
      return true
    } catch (error) {
      if (error instanceof RosterError && error.code === codes.UNAVAILABLE) throw error
      failed(error as Error)
      return false
    }
  }
}
