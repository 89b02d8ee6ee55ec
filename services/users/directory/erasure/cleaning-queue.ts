import { isAbsence } from '#lib/subscriptions/follow'
import { addDeadLetter } from '#lib/subscriptions/follower-rows'
import type { Log } from '#lib/log'
import { pause, type Repeated, repeat } from '#lib/repeat'
import { throttled } from '#lib/throttled'
import { cleanStream, type CleanOptions } from './clean-stream.ts'
import { follower, readQueue, type Waiting } from './queue-rows.ts'

/** Milliseconds between two looks if nothing wakes it, and while the removals are not published yet. */
const lookEvery = 5000
const unpublishedEvery = 100
const retryAfter = 1000
/** Milliseconds until the follower tries again who could not be cleaned. */
const retryDeadLetterAfter = 2000
/** Users that are cleaned at the same time. */
const atOnce = 4

/**
 * The queue of erasure: cleans the stream of removed users. Organizations are served round robin: one that removes
 * thousands of users delays no other one. Who cannot be cleaned becomes a dead letter, and holds up no other.
 */
export function startCleaningQueue({ sql, nats, log }: CleanOptions & { log: Log }): Repeated {
  let after = ''
  // In this round over the organizations.
  let [found, cleaned] = [false, false]

  async function work(stopped: AbortSignal): Promise<'more' | undefined> {
    const { waiting, last } = await readQueue(sql, after)
    const published = waiting.filter(({ isPublished }) => isPublished)
    for (let begin = 0; begin < published.length && !stopped.aborted; begin += atOnce) {
      const some = published.slice(begin, begin + atOnce)
      // Wait for all of them, even if one fails: nothing may still be at work after a stop.
      const outcomes = await Promise.allSettled(some.map((user) => cleanOrGiveUp(user)))
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    }
    after = last
    found ||= waiting.length > 0
    cleaned ||= published.length > 0
    if (last !== '') return 'more'
    if (found && !cleaned) await pause(unpublishedEvery, stopped)
    const isOver = !found
    found = cleaned = false
    return isOver ? undefined : 'more'
  }

  async function cleanOrGiveUp({ position, ...user }: Waiting): Promise<void> {
    try {
      await cleanStream({ sql, nats }, user)
    } catch (error) {
      if (isAbsence(error)) throw error
      await addDeadLetter(sql, follower, position, { tries: 1, pause: retryDeadLetterAfter, reason: error })
      log.error(
        { err: error, userId: user.userId },
        'the stream cannot be cleaned of a removed user: it is tried again',
      )
    }
  }

  return repeat({
    work,
    every: lookEvery,
    retryAfter,
    failed: throttled(log, 'removed users are cleaned from the stream later'),
  })
}
