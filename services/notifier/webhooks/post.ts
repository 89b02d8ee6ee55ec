import type { Destinations } from '#lib/outbound/destinations'
import { guardedFetch } from '#lib/outbound/guarded-fetch'
import { wordsOfFailure } from '#lib/outbound/words-of-failure'

/** The outcome of one try. */
export interface Outcome {
  /** The answer's status. Undefined: no answer came. */
  status: number | undefined
  /** Why the try failed, in words that reveal nothing of the network. Undefined: the receiver took the event. */
  error: string | undefined
  /** Milliseconds for which the receiver asks to be left alone. */
  retryAfter?: number | undefined
}

/**
 * Posts a body. Follows no redirect and does not look at the answer's body. Rejects only if `signal` is aborted: then
 * it is unknown whether the body arrived. The answer's head has `within` milliseconds, and its end at most one second
 * more.
 */
export async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  destinations: Destinations,
  signal: AbortSignal,
  within: number,
): Promise<Outcome> {
  try {
    const answer = await guardedFetch(destinations, { within })(url, { method: 'POST', headers, body, signal })
    const { status } = answer
    const retryAfter = status === 429 || status === 503 ? readRetryAfter(answer.headers.get('retry-after')) : undefined
    return { status, error: answer.ok ? undefined : `status ${status}`, retryAfter }
  } catch (error) {
    signal.throwIfAborted()
    return { status: undefined, error: wordsOfFailure(error) }
  }
}

function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return wait > 0 ? wait : undefined
}
