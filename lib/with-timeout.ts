/** How long to wait, and the errors that end the wait. */
export interface Bounds {
  /** Milliseconds. With none left, only work that is done already gives its result. */
  timeout: number
  /** Makes the error of a timeout. */
  late: () => Error
  /** Ends the wait as well, where a client may go away. */
  signal?: AbortSignal
  /** Makes the error of an aborted signal. */
  gone?: () => Error
}

/**
 * Waits for work, but no longer than the bounds say. The work itself goes on: others may share it, or it does no harm
 * when it ends late. An error that it throws after the wait is dropped.
 */
export async function withTimeout<T>(work: Promise<T>, { timeout, late, signal, gone = late }: Bounds): Promise<T> {
  const { promise: interrupted, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late()), Math.max(timeout, 0))
  const leave = () => reject(gone())
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted) leave()
  try {
    return await Promise.race([work, interrupted])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  }
}
