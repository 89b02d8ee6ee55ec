/** Seconds: no CHECKPOINT_INTERVAL is longer, and an hour of patience. */
const most = 25 * 3600
/** Seconds that a checkpoint may be late. */
const patience = 600

/**
 * Seconds that an event may wait to be signed. The command does not know CHECKPOINT_INTERVAL: the shortest of the
 * pauses between the last checkpoints tells it, in seconds.
 */
export function longestWait(isAnySigned: boolean, pauses: number[]): number {
  // The first one is signed at once.
  if (!isAnySigned) return patience
  // A service may tell any times.
  return Math.min(3 * Math.min(...pauses.filter((pause) => pause > 0)) + patience, most)
}
