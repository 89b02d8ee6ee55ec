import type { Duration } from '#gen/google/protobuf/duration'
import type { Violation } from '#lib/errors'

/** A chosen lifetime of a session in seconds. */
export function secondsOf(lifetime: Duration | undefined): number | undefined {
  return lifetime && lifetime.seconds + lifetime.nanos / 1e9
}

export function faultsOfLifetime({ lifetime }: { lifetime?: Duration | undefined }): Violation[] {
  const seconds = secondsOf(lifetime)
  const isRight = seconds === undefined || (Number.isInteger(seconds) && seconds >= 1)
  return isRight ? [] : [{ field: 'lifetime', description: 'must be whole seconds, at least one' }]
}
