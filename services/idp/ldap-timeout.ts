import type { Duration } from '#gen/google/protobuf/duration'
import type { Violation } from '#lib/errors'
import type { Context } from './context.ts'

/** Refuses a timeout of less than a second or more than a minute. */
export function checkTimeout(_context: Context, { timeout }: { timeout?: Duration | undefined }): Violation[] {
  const milliseconds = inMilliseconds(timeout) ?? 1000
  return milliseconds >= 1000 && milliseconds <= 60_000
    ? []
    : [{ field: 'timeout', description: 'must be from 1 s to 60 s' }]
}

/** Parts of a millisecond are left out. */
export function inMilliseconds(duration: Duration | undefined): number | undefined {
  return duration && duration.seconds * 1000 + Math.trunc(duration.nanos / 1e6)
}
